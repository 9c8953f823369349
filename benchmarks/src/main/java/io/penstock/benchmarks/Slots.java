// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.ThreadLocalRandom;

/** The memory of a contender, a block per operation in flight, and which block of the file each was used for last. */
final class Slots {

    private final Workload workload;
    private final ByteBuffer[] blocks;
    private final long[] seeds; // of writes: what a slot's bytes are a function of
    private final long[] offsets; // of the last operation that has begun; -1 before the first

    /**
     * Makes slots.
     *
     * @param memory as many bytes as all slots have, aligned for direct I/O
     */
    Slots(Workload workload, ByteBuffer memory) {
        this.workload = workload;
        int depth = workload.depth();
        blocks = new ByteBuffer[depth];
        seeds = new long[depth];
        offsets = new long[depth];
        for (int slot = 0; slot < depth; slot++) {
            blocks[slot] = memory.slice(slot * workload.blockBytes(), workload.blockBytes())
                    .order(ByteOrder.LITTLE_ENDIAN);
        }
        renew();
    }

    static Slots allocate(Workload workload) {
        return new Slots(workload, ByteBuffer.allocateDirect(workload.depth() * workload.blockBytes()));
    }

    /** Puts new bytes into the slots: those to be written, or some that no read may leave there. */
    void renew() {
        for (int slot = 0; slot < blocks.length; slot++) {
            seeds[slot] = -1 - ThreadLocalRandom.current().nextLong(1L << 60);
            TestFile.fill(blocks[slot], seeds[slot]);
            offsets[slot] = -1;
        }
    }

    ByteBuffer block(int slot) {
        return blocks[slot];
    }

    /** Chooses the next offset for a slot. */
    long next(int slot) {
        long offset = workload.offset(slot);
        offsets[slot] = offset;
        return offset;
    }

    /** Returns the offset last chosen for a slot. */
    long offset(int slot) {
        return offsets[slot];
    }

    /** Takes a slot out of the next check: nobody knows what is there. */
    void forget(int slot) {
        offsets[slot] = -1;
    }

    /** Checks every slot that was used, none in flight, and renews them. */
    void verify(String whose) throws IOException {
        int used = 0;
        try (FileChannel file = FileChannel.open(workload.file())) {
            ByteBuffer written =
                    ByteBuffer.allocateDirect(workload.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
            for (int slot = 0; slot < blocks.length; slot++) {
                if (offsets[slot] < 0) {
                    continue;
                }
                used++;
                if (workload.write()) {
                    file.read(written.clear(), offsets[slot]);
                    TestFile.verify(written, seeds[slot], whose);
                } else {
                    TestFile.verify(blocks[slot], offsets[slot], whose);
                }
            }
        }
        if (used == 0) {
            throw new IOException(whose + ": nothing was moved");
        }
        renew();
    }
}
