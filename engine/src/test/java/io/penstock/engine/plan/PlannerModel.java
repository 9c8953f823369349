// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.BufferRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Files and buffers as arrays of bytes, and a device that refuses what the limits forbid. Runs segments the way an I/O
 * queue does, so that what is left can be compared with a plain copy.
 */
final class PlannerModel implements SegmentCursor.Ground {

    private final Map<StorageFile, Limits> limits = new HashMap<>();
    final Map<StorageFile, byte[]> files = new HashMap<>(); // as long as the file is
    final Map<NamedBuffer, byte[]> buffers = new HashMap<>();
    final long bounceBytes;

    PlannerModel(long bounceBytes) {
        this.bounceBytes = bounceBytes;
    }

    void add(StorageFile file, Limits limits, byte[] content) {
        this.limits.put(file, limits);
        files.put(file, content);
    }

    @Override
    public Limits limits(StorageFile file) {
        return limits.get(file);
    }

    @Override
    public long address(Target target) {
        return ((BufferRegion) target).buffer().nativeHandle();
    }

    /** Copies what the transfer describes, byte for byte. */
    void copyPlainly(Transfer transfer) {
        for (int i = 0; i < transfer.pairs(); i++) {
            StorageFile file = transfer.fileRegion(i).file();
            byte[] memory = memory(transfer, i);
            int offset = (int) ((BufferRegion) transfer.target(i)).offset();
            int length = (int) transfer.fileRegion(i).length();
            move(transfer.isRead(), file, transfer.fileOffset(i), memory, offset, length);
        }
    }

    private byte[] memory(Transfer transfer, int pair) {
        return buffers.get((NamedBuffer) ((BufferRegion) transfer.target(pair)).buffer());
    }

    // What one native command does: short at the end of the file, longer file after a write beyond.
    private void move(boolean read, StorageFile file, long fileOffset, byte[] memory, int offset, int length) {
        byte[] content = files.get(file);
        if (read) {
            int there = (int) Math.max(0, Math.min(length, content.length - fileOffset));
            System.arraycopy(content, (int) Math.min(fileOffset, content.length), memory, offset, there);
        } else if (length > 0) {
            byte[] grown = Arrays.copyOf(content, (int) Math.max(content.length, fileOffset + length));
            System.arraycopy(memory, offset, grown, (int) fileOffset, length);
            files.put(file, grown);
        }
    }

    /** A segment, kept for later: a cursor is one object for all of them. */
    record StagedRequest(
            SegmentCursor.Kind kind,
            int pair,
            int pairCount,
            long file,
            long target,
            long bytes,
            long cover,
            long coverBytes,
            boolean merge) {

        static StagedRequest of(SegmentCursor cursor) {
            return new StagedRequest(
                    cursor.kind(),
                    cursor.pair(),
                    cursor.pairCount(),
                    cursor.fileOffset(),
                    cursor.targetOffset(),
                    cursor.bytes(),
                    cursor.coverOffset(),
                    cursor.coverBytes(),
                    cursor.isMerge());
        }
    }

    void run(Transfer transfer, StagedRequest segment) {
        StorageFile file = transfer.fileRegion(segment.pair).file();
        Limits limits = limits(file);
        long address = address(transfer.target(segment.pair));
        byte[] memory = memory(transfer, segment.pair);
        switch (segment.kind) {
            case BODY -> {
                check(segment, limits, segment.file, address + segment.target, segment.bytes);
                move(transfer.isRead(), file, segment.file, memory, (int) segment.target, (int) segment.bytes);
            }
            case PACKED -> {
                assertThat(limits.packs()).isTrue();
                long target = segment.target;
                for (int i = segment.pair; i < segment.pair + segment.pairCount; i++) {
                    long bytes = transfer.fileRegion(i).length();
                    check(segment, limits, transfer.fileOffset(i), address + target, bytes);
                    move(true, file, transfer.fileOffset(i), memory, (int) target, (int) bytes);
                    target += bytes;
                }
                assertThat(target - segment.target).isEqualTo(segment.bytes).isLessThanOrEqualTo(limits.segmentBytes());
            }
            case BOUNCE -> bounce(transfer.isRead(), file, segment, memory);
        }
    }

    private void check(StagedRequest segment, Limits limits, long fileOffset, long address, long bytes) {
        assertThat(fileOffset % limits.fileAlignment())
                .as("offset of %s", segment)
                .isZero();
        assertThat(bytes % limits.fileAlignment()).as("length of %s", segment).isZero();
        assertThat(address % limits.memoryAlignment())
                .as("address of %s", segment)
                .isZero();
        assertThat(segment.bytes).as("length of %s", segment).isPositive().isLessThanOrEqualTo(limits.maxBytes());
    }

    private void bounce(boolean read, StorageFile file, StagedRequest segment, byte[] memory) {
        Limits limits = limits(file);
        assertThat(segment.cover % limits.fileAlignment())
                .as("cover of %s", segment)
                .isZero();
        assertThat(segment.coverBytes % limits.fileAlignment())
                .as("cover of %s", segment)
                .isZero();
        assertThat(segment.coverBytes)
                .as("cover of %s", segment)
                .isLessThanOrEqualTo(Math.min(bounceBytes, limits.maxBytes()));
        assertThat(segment.cover).isLessThanOrEqualTo(segment.file);
        assertThat(segment.cover + segment.coverBytes).isGreaterThanOrEqualTo(segment.file + segment.bytes);

        byte[] bounce = new byte[(int) segment.coverBytes];
        Arrays.fill(bounce, (byte) 0xEE); // what the bounce buffer held before must never get anywhere
        int lead = (int) (segment.file - segment.cover);
        int size = files.get(file).length;
        if (read) {
            move(true, file, segment.cover, bounce, 0, bounce.length);
            int there = (int) Math.max(0, Math.min(segment.bytes, size - segment.file));
            System.arraycopy(bounce, lead, memory, (int) segment.target, there);
            return;
        }
        if (segment.merge) {
            Arrays.fill(bounce, (byte) 0); // a hole between the old end of the file and the new one reads as zeros
            move(true, file, segment.cover, bounce, 0, bounce.length);
        }
        System.arraycopy(memory, (int) segment.target, bounce, lead, (int) segment.bytes);
        move(false, file, segment.cover, bounce, 0, bounce.length);
        int length = (int) Math.max(size, segment.file + segment.bytes);
        files.computeIfPresent(file, (f, content) -> Arrays.copyOf(content, length)); // exactly restored
    }
}
