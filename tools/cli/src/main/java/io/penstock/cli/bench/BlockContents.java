// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.SplittableRandom;

/**
 * The bytes of the slots of a job: random ones that no earlier run has written, so that a block in the file that holds
 * a slot's bytes was written by this run, and a slot that holds the bytes of the file was read by it.
 */
final class BlockContents {

    private static final int PART_BYTES = 1 << 20; // at a time

    private final long seed = new SplittableRandom().nextLong();
    private final ByteBuffer part = ByteBuffer.allocateDirect(PART_BYTES);
    private final ByteBuffer found = ByteBuffer.allocateDirect(PART_BYTES);

    /** Fills all slots. */
    void fill(Job job) {
        for (int slot = 0; slot < job.work().depth(); slot++) {
            for (long at = 0; at < job.work().blockBytes(); at += PART_BYTES) {
                fill(limited(part, job.work().blockBytes() - at), slot, at);
                job.buffer().upload(slot * job.work().blockBytes() + at, part).block();
            }
        }
    }

    private static ByteBuffer limited(ByteBuffer buffer, long bytes) {
        return buffer.clear().limit((int) Math.min(PART_BYTES, bytes));
    }

    /** Fills a part of a slot, which begins at a multiple of 8. */
    private void fill(ByteBuffer target, int slot, long at) {
        int i = 0;
        for (; i + Long.BYTES <= target.limit(); i += Long.BYTES) {
            target.putLong(i, word(slot, (at + i) / Long.BYTES));
        }
        for (; i < target.limit(); i++) {
            target.put(i, byteOf(slot, at + i));
        }
    }

    private long word(int slot, long index) {
        return mix(mix(seed + slot) + index);
    }

    private byte byteOf(int slot, long at) {
        return (byte) (word(slot, at / Long.BYTES) >>> (Long.SIZE - Byte.SIZE * (1 + at % Long.BYTES)));
    }

    /** Stafford's variant 13 of the finalizer of MurmurHash3, as in {@link SplittableRandom}. */
    private static long mix(long seed) {
        long z = (seed ^ (seed >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /**
     * Compares the last block of each slot that had one with the file, and returns how many there were.
     *
     * @throws IOException if one differs
     */
    int verify(Job job) throws IOException {
        int blocks = 0;
        try (FileChannel file = FileChannel.open(job.work().file())) {
            for (int slot = 0; slot < job.work().depth(); slot++) {
                if (job.offset(slot) < 0) {
                    continue;
                }
                blocks++;
                if (job.work().pattern().writes()) {
                    verifyWritten(job, file, job.offset(slot));
                } else {
                    verifyRead(job, file, slot);
                }
            }
        }
        return blocks;
    }

    private void verifyRead(Job job, FileChannel file, int slot) throws IOException {
        for (long at = 0; at < job.work().blockBytes(); at += PART_BYTES) {
            readFully(file, limited(found, job.work().blockBytes() - at), job.offset(slot) + at);
            limited(part, job.work().blockBytes() - at);
            job.buffer().download(slot * job.work().blockBytes() + at, part).block();
            compare(job, job.offset(slot) + at);
        }
    }

    /**
     * Several slots may have written the block at the same time, in segments without an order: its bytes must be the
     * bytes of one slot up to some place, from there the bytes of another, and so on.
     */
    private void verifyWritten(Job job, FileChannel file, long offset) throws IOException {
        int writer = 0;
        for (long at = 0; at < job.work().blockBytes(); at += PART_BYTES) {
            readFully(file, limited(found, job.work().blockBytes() - at), offset + at);
            writer = at == 0 ? first(job) : writer;
            if (writer < 0) {
                throw new IOException(job.work().file() + ": the block at byte " + offset + " is not what was written");
            }
            fill(limited(part, job.work().blockBytes() - at), writer, at);
            for (int wrong = found.mismatch(part); wrong >= 0; wrong = found.mismatch(part)) {
                int other = writer(job, at, wrong);
                if (other < 0) {
                    throw difference(job, offset + at, wrong);
                }
                writer = other;
                // What precedes has been compared.
                fill(limited(part, job.work().blockBytes() - at), writer, at);
                part.put(0, found, 0, wrong);
            }
        }
    }

    /** Returns the slot with which a block begins; negative if there is none. Another may follow within 8 bytes. */
    private int first(Job job) {
        int writer = writer(job, 0, 0);
        for (int bytes = 1; writer < 0 && bytes < Math.min(Long.BYTES, found.limit()); bytes++) {
            writer = writer(job, 0, bytes) < 0 ? -1 : slot(job, 0, 0, bytes);
        }
        return writer;
    }

    /**
     * Returns a slot whose next 8 bytes from {@code from} on are the bytes of the part, or what it has left; negative
     * if there is none.
     */
    private int writer(Job job, long at, int from) {
        return slot(job, at, from, Math.min(found.limit(), from + Long.BYTES));
    }

    private int slot(Job job, long at, int start, int end) {
        for (int slot = 0; slot < job.work().depth(); slot++) {
            int same = start;
            while (same < end && found.get(same) == byteOf(slot, at + same)) {
                same++;
            }
            if (same == end) {
                return slot;
            }
        }
        return -1;
    }

    private void compare(Job job, long offset) throws IOException {
        int wrong = found.mismatch(part);
        if (wrong >= 0) {
            throw difference(job, offset, wrong);
        }
    }

    private IOException difference(Job job, long offset, int wrong) {
        return new IOException(String.format(
                "%s differs at byte %d: 0x%02x in the file, 0x%02x %s",
                job.work().file(),
                offset + wrong,
                found.get(wrong),
                part.get(wrong),
                job.work().pattern().writes() ? "was written" : "in the device's memory"));
    }

    private static void readFully(FileChannel file, ByteBuffer target, long offset) throws IOException {
        while (target.hasRemaining()) {
            if (file.read(target, offset + target.position()) < 0) {
                throw new EOFException("the file ends before byte " + (offset + target.limit()));
            }
        }
        target.flip();
    }
}
