// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.ThreadLocalRandom;

/** The memory of a contender, a block per operation in flight, and which block of the file each was used for last. */
final class Chains {

    private final Workload workload;
    private final ByteBuffer[] blocks;
    private final long[] seeds; // of writes: the seed of a chain's bytes
    private final long[] offsets; // of the last started operation; -1 before the first

    /**
     * Creates chains.
     *
     * @param memory as many bytes as all chains have, aligned for direct I/O
     */
    Chains(Workload workload, ByteBuffer memory) {
        this.workload = workload;
        int depth = workload.depth();
        blocks = new ByteBuffer[depth];
        seeds = new long[depth];
        offsets = new long[depth];
        for (int chain = 0; chain < depth; chain++) {
            blocks[chain] = memory.slice(chain * workload.blockBytes(), workload.blockBytes())
                    .order(ByteOrder.LITTLE_ENDIAN);
        }
        renew();
    }

    static Chains allocate(Workload workload) {
        return new Chains(workload, ByteBuffer.allocateDirect(workload.depth() * workload.blockBytes()));
    }

    /** Fills the chains with new bytes: bytes to be written, or a pattern that every read must overwrite. */
    void renew() {
        for (int chain = 0; chain < blocks.length; chain++) {
            seeds[chain] = -1 - ThreadLocalRandom.current().nextLong(1L << 60);
            TestFile.fill(blocks[chain], seeds[chain]);
            offsets[chain] = -1;
        }
    }

    ByteBuffer block(int chain) {
        return blocks[chain];
    }

    /** Chooses the next offset for a chain. */
    long next(int chain) {
        return use(chain, workload.offset(chain));
    }

    /** Takes an offset for a chain. */
    long use(int chain, long offset) {
        offsets[chain] = offset;
        return offset;
    }

    /** Returns the offset last chosen for a chain. */
    long offset(int chain) {
        return offsets[chain];
    }

    /** Excludes a chain from the next check: its contents are undefined. */
    void forget(int chain) {
        offsets[chain] = -1;
    }

    /** Checks every chain that was used, none in flight, and renews them. */
    void verify() throws IOException {
        int used = 0;
        try (FileChannel file = FileChannel.open(workload.file())) {
            ByteBuffer written =
                    ByteBuffer.allocateDirect(workload.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
            for (int chain = 0; chain < blocks.length; chain++) {
                if (offsets[chain] < 0) {
                    continue;
                }
                used++;
                if (workload.write()) {
                    file.read(written.clear(), offsets[chain]);
                    TestFile.verify(written, seeds[chain]);
                } else {
                    TestFile.verify(blocks[chain], offsets[chain]);
                }
            }
        }
        if (used == 0) {
            throw new IOException("nothing was moved");
        }
        renew();
    }
}
