// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The bytes of the slots of a job: random ones that no earlier run has written, so that a block in the file that holds a
 * slot's bytes was written by this run, and a slot that holds the bytes of the file was read by it.
 */
final class BlockContents {

    private static final int PART_BYTES = 1 << 20; // at a time

    private final long seed = new SplittableRandom().nextLong();
    private final ByteBuffer part = ByteBuffer.allocateDirect(PART_BYTES);
    private final ByteBuffer found = ByteBuffer.allocateDirect(PART_BYTES);

    /** Fills all slots. */
    void fill(Job job) {
        for (int slot = 0; slot < job.depth(); slot++) {
            SplittableRandom random = random(slot);
            for (long at = 0; at < job.blockBytes(); at += PART_BYTES) {
                fill(limited(part, job.blockBytes() - at), random);
                job.buffer().upload(slot * job.blockBytes() + at, part).block();
            }
        }
    }

    private SplittableRandom random(int slot) {
        return new SplittableRandom(seed + slot);
    }

    private static ByteBuffer limited(ByteBuffer buffer, long bytes) {
        return buffer.clear().limit((int) Math.min(PART_BYTES, bytes));
    }

    private static void fill(ByteBuffer target, SplittableRandom random) {
        int at = 0;
        for (; at + Long.BYTES <= target.limit(); at += Long.BYTES) {
            target.putLong(at, random.nextLong());
        }
        for (; at < target.limit(); at++) {
            target.put(at, (byte) random.nextInt());
        }
    }

    /**
     * Compares the last block of each slot that had one with the file, and returns how many there were.
     *
     * @throws IOException if one differs
     */
    int verify(Job job) throws IOException {
        int blocks = 0;
        try (FileChannel file = FileChannel.open(job.work().file())) {
            Map<Long, Integer> writers = job.work().pattern().writes() ? writers(job) : Map.of();
            for (int slot = 0; slot < job.depth(); slot++) {
                if (job.offset(slot) < 0) {
                    continue;
                }
                blocks++;
                if (job.work().pattern().writes()) {
                    verifyWritten(job, file, job.offset(slot), writers);
                } else {
                    verifyRead(job, file, slot);
                }
            }
        }
        return blocks;
    }

    /** Returns each slot by the start of its bytes. */
    private Map<Long, Integer> writers(Job job) {
        Map<Long, Integer> writers = new HashMap<>();
        for (int slot = 0; slot < job.depth(); slot++) {
            writers.put(start(job, random(slot)), slot);
        }
        return writers;
    }

    private long start(Job job, SplittableRandom random) {
        fill(limited(part, job.blockBytes()), random);
        return start(part);
    }

    private static long start(ByteBuffer block) {
        return block.limit() < Long.BYTES ? block.get(0) : block.getLong(0);
    }

    private void verifyRead(Job job, FileChannel file, int slot) throws IOException {
        for (long at = 0; at < job.blockBytes(); at += PART_BYTES) {
            readFully(file, limited(found, job.blockBytes() - at), job.offset(slot) + at);
            limited(part, job.blockBytes() - at);
            job.buffer().download(slot * job.blockBytes() + at, part).block();
            compare(job, job.offset(slot) + at);
        }
    }

    /** Several slots may have written the block: all its bytes must be those of one. */
    private void verifyWritten(Job job, FileChannel file, long offset, Map<Long, Integer> writers) throws IOException {
        readFully(file, limited(found, job.blockBytes()), offset);
        Integer writer = writers.get(start(found));
        if (writer == null) {
            throw new IOException(job.work().file() + ": the block at byte " + offset + " is not what was written");
        }
        SplittableRandom random = random(writer);
        for (long at = 0; at < job.blockBytes(); at += PART_BYTES) {
            readFully(file, limited(found, job.blockBytes() - at), offset + at);
            fill(limited(part, job.blockBytes() - at), random);
            compare(job, offset + at);
        }
    }

    private void compare(Job job, long offset) throws IOException {
        int wrong = found.mismatch(part);
        if (wrong >= 0) {
            throw new IOException(String.format(
                    "%s differs at byte %d: 0x%02x in the file, 0x%02x %s",
                    job.work().file(),
                    offset + wrong,
                    found.get(wrong),
                    part.get(wrong),
                    job.work().pattern().writes() ? "was written" : "in the device's memory"));
        }
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
