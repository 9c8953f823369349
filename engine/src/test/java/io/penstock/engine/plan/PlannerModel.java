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
 * Files and buffers as arrays of bytes, and a device that refuses what the limits forbid. Runs pieces the way a lane
 * does, so that what is left can be compared with a plain copy.
 */
final class PlannerModel implements PieceCursor.Ground {

    private final Map<StorageFile, Limits> limits = new HashMap<>();
    final Map<StorageFile, byte[]> files = new HashMap<>(); // as long as the file is
    final Map<NamedBuffer, byte[]> buffers = new HashMap<>();
    final long slotBytes;

    PlannerModel(long slotBytes) {
        this.slotBytes = slotBytes;
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

    /** Copies what the transfer says, byte for byte. */
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

    /** A piece, kept for later: a cursor is one object for all of them. */
    record Piece(
            PieceCursor.Kind kind,
            int pair,
            int pairCount,
            long file,
            long target,
            long bytes,
            long cover,
            long coverBytes,
            boolean merge) {

        static Piece of(PieceCursor cursor) {
            return new Piece(
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

    void run(Transfer transfer, Piece piece) {
        StorageFile file = transfer.fileRegion(piece.pair).file();
        Limits limits = limits(file);
        long address = address(transfer.target(piece.pair));
        byte[] memory = memory(transfer, piece.pair);
        switch (piece.kind) {
            case BODY -> {
                check(piece, limits, piece.file, address + piece.target, piece.bytes);
                move(transfer.isRead(), file, piece.file, memory, (int) piece.target, (int) piece.bytes);
            }
            case PACKED -> {
                assertThat(limits.packs()).isTrue();
                long target = piece.target;
                for (int i = piece.pair; i < piece.pair + piece.pairCount; i++) {
                    long bytes = transfer.fileRegion(i).length();
                    check(piece, limits, transfer.fileOffset(i), address + target, bytes);
                    move(true, file, transfer.fileOffset(i), memory, (int) target, (int) bytes);
                    target += bytes;
                }
                assertThat(target - piece.target).isEqualTo(piece.bytes).isLessThanOrEqualTo(limits.pieceBytes());
            }
            case BOUNCE -> bounce(transfer.isRead(), file, piece, memory);
        }
    }

    private void check(Piece piece, Limits limits, long fileOffset, long address, long bytes) {
        assertThat(fileOffset % limits.fileAlignment())
                .as("offset of %s", piece)
                .isZero();
        assertThat(bytes % limits.fileAlignment()).as("length of %s", piece).isZero();
        assertThat(address % limits.memoryAlignment())
                .as("address of %s", piece)
                .isZero();
        assertThat(piece.bytes).as("length of %s", piece).isPositive().isLessThanOrEqualTo(limits.maxBytes());
    }

    private void bounce(boolean read, StorageFile file, Piece piece, byte[] memory) {
        Limits limits = limits(file);
        assertThat(piece.cover % limits.fileAlignment())
                .as("cover of %s", piece)
                .isZero();
        assertThat(piece.coverBytes % limits.fileAlignment())
                .as("cover of %s", piece)
                .isZero();
        assertThat(piece.coverBytes)
                .as("cover of %s", piece)
                .isLessThanOrEqualTo(Math.min(slotBytes, limits.maxBytes()));
        assertThat(piece.cover).isLessThanOrEqualTo(piece.file);
        assertThat(piece.cover + piece.coverBytes).isGreaterThanOrEqualTo(piece.file + piece.bytes);

        byte[] slot = new byte[(int) piece.coverBytes];
        Arrays.fill(slot, (byte) 0xEE); // what the slot held before must never get anywhere
        int lead = (int) (piece.file - piece.cover);
        int size = files.get(file).length;
        if (read) {
            move(true, file, piece.cover, slot, 0, slot.length);
            int there = (int) Math.max(0, Math.min(piece.bytes, size - piece.file));
            System.arraycopy(slot, lead, memory, (int) piece.target, there);
            return;
        }
        if (piece.merge) {
            Arrays.fill(slot, (byte) 0); // a hole between the old end of the file and the new one reads as zeros
            move(true, file, piece.cover, slot, 0, slot.length);
        }
        System.arraycopy(memory, (int) piece.target, slot, lead, (int) piece.bytes);
        move(false, file, piece.cover, slot, 0, slot.length);
        int length = (int) Math.max(size, piece.file + piece.bytes);
        files.computeIfPresent(file, (f, content) -> Arrays.copyOf(content, length)); // exactly restored
    }
}
