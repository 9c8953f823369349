// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.simulation.SimulatedMemory.Given;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A file as bytes: what is in the page cache, what is durable, and what a failed write-back has lost. */
final class SimulatedFile {
    static final int MOST_BYTES = 128 << 10;

    final String name;
    final int inode;
    final int fileAlignment; // under O_DIRECT
    final int memoryAlignment;
    final byte[] content = new byte[MOST_BYTES];
    int length;
    boolean keepsPadding; // a truncate was refused: the file may be longer, by less than a block

    private final byte[] durable = new byte[MOST_BYTES];
    private final boolean[] lost = new boolean[MOST_BYTES];
    private long syncs;
    private long lastDurable;
    private int writeBackErrors;

    /** What a sync covers: the content as it was when the kernel began with it. */
    static final class Snapshot {
        private final long number;
        private final byte[] content;

        private Snapshot(long number, byte[] content) {
            this.number = number;
            this.content = content;
        }
    }

    SimulatedFile(String name, int inode, int fileAlignment, int memoryAlignment, byte[] bytes) {
        this.name = name;
        this.inode = inode;
        this.fileAlignment = fileAlignment;
        this.memoryAlignment = memoryAlignment;
        System.arraycopy(bytes, 0, content, 0, bytes.length);
        System.arraycopy(bytes, 0, durable, 0, bytes.length);
        length = bytes.length;
    }

    int read(long offset, Given memory, int most) {
        int count = (int) Math.max(0, Math.min(most, length - offset));
        if (count > 0) {
            memory.touch().put(content, (int) offset, count);
        }
        return count;
    }

    /** Writes bytes of which the first were taken early. */
    int write(long offset, byte[] early, ByteBuffer memory, int count) {
        if (offset + count > MOST_BYTES) {
            throw new Violation("206: a write of " + count + " bytes at " + offset + " of " + name);
        }
        int taken = Math.min(early.length, count);
        System.arraycopy(early, 0, content, (int) offset, taken);
        memory.get(taken, content, (int) offset + taken, count - taken);
        Arrays.fill(lost, (int) offset, (int) offset + count, false);
        length = Math.max(length, (int) offset + count);
        return count;
    }

    void truncate(long bytes) {
        Arrays.fill(content, (int) Math.min(bytes, length), (int) Math.max(bytes, length), (byte) 0);
        length = (int) bytes;
    }

    Snapshot beginSync() {
        return new Snapshot(syncs++, content.clone());
    }

    void endSync(Snapshot snapshot, boolean succeeded) {
        if (!succeeded) {
            writeBackErrors++;
            // The pages are marked clean all the same: no later sync writes them (fsync(2)).
            for (int i = 0; i < MOST_BYTES; i++) {
                lost[i] |= snapshot.content[i] != durable[i];
            }
        } else if (snapshot.number >= lastDurable) {
            lastDurable = snapshot.number;
            for (int i = 0; i < MOST_BYTES; i++) {
                durable[i] = lost[i] ? durable[i] : snapshot.content[i];
            }
        }
    }

    /** Returns how many syncs have failed. */
    int writeBackErrors() {
        return writeBackErrors;
    }

    byte durable(int index) {
        return durable[index];
    }
}
