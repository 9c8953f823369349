// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Transfer;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import java.io.IOException;

/**
 * What a filler does for a piece: reads and writes the file until the piece is complete or the file ends. Where a
 * file has blocks, reads take in the blocks around what was asked for.
 *
 * <p><b>Result:</b> bytes, or a negative result of the queue's. An error wins over the bytes before it, since a short
 * count says that the file has ended (rule 103); the lane may submit the piece again as a whole.
 */
final class HostSide {

    private static final int MOST_IN_VAIN = 64; // reads of a block that bring no more of it

    private final HostBytes host;

    HostSide(HostBytes host) {
        this.host = host;
    }

    /** Returns whether the piece can go without a slot: the processor reaches its memory, and so does host I/O. */
    boolean reachesDirectly(Piece piece) {
        if (piece.memory().hostAddress() == 0) {
            return false;
        }
        long block = host.blockBytes(piece.file());
        long edges = piece.memoryAddress() | piece.fileOffset | piece.bytes;
        return block == 1 || (piece.packed == null && (edges & (block - 1)) == 0);
    }

    /** Does the next step of a piece, unless that is a copy. */
    long run(Piece piece) {
        try {
            return switch (piece.step) {
                case FILL -> fill(piece, piece.slot().hostAddress());
                case DRAIN -> write(piece, piece.slot().hostAddress());
                case HOST -> whole(piece);
                case SYNC -> Results.ofHost(host.sync(piece.file()));
                case COPY -> throw new IllegalStateException("a copy is the device's");
            };
        } catch (IOException | RuntimeException | Error e) {
            piece.thrown = e;
            return Results.hostThrew(piece);
        }
    }

    private long whole(Piece piece) throws IOException {
        if (piece.kind == Command.Kind.COPY_IN || piece.kind == Command.Kind.COPY_OUT) {
            moveSlot(piece, piece.bytes);
            return piece.bytes;
        }
        if (!piece.hasSlot()) {
            return piece.isInward() ? fill(piece, piece.memoryAddress()) : write(piece, piece.memoryAddress());
        }
        if (!piece.isInward()) {
            moveSlot(piece, piece.bytes);
            return write(piece, piece.slot().hostAddress());
        }
        long got = fill(piece, piece.slot().hostAddress());
        if (got > 0) {
            moveSlot(piece, got);
        }
        return got;
    }

    private void moveSlot(Piece piece, long bytes) {
        long inSlot = piece.slot().hostAddress() + piece.slotOffset;
        if (piece.isInward()) {
            host.move(piece.memoryAddress(), inSlot, bytes);
        } else {
            host.move(inSlot, piece.memoryAddress(), bytes);
        }
    }

    private long write(Piece piece, long address) throws IOException {
        long done = 0;
        while (done < piece.bytes) {
            long wrote = piece.bytesBy(host)
                    .write(piece.file(), piece.fileOffset + done, address + done, piece.bytes - done);
            if (wrote <= 0) {
                return wrote < 0 ? Results.ofHost(wrote) : done;
            }
            done += wrote;
        }
        return done;
    }

    private long fill(Piece piece, long base) throws IOException {
        long block = host.blockBytes(piece.file());
        Transfer gather = piece.packed;
        if (gather != null) {
            return fillPacked(piece, gather, base, block);
        }
        long skip = piece.fileOffset & (block - 1);
        long cover = alignUp(skip + piece.bytes, block);
        if (cover != piece.bytes && !fits(piece, base, cover)) {
            return Results.TOO_WIDE;
        }
        piece.slotOffset = skip;
        long got = read(piece, piece.fileOffset - skip, base, cover, block);
        return got < 0 ? got : clamp(got - skip, piece.bytes);
    }

    /**
     * Reads pairs side by side, up to the first that the file cuts short: the result counts a prefix of the piece, as
     * for any other. Pairs that follow one another in the file too are read as one.
     */
    private long fillPacked(Piece piece, Transfer gather, long base, long block) throws IOException {
        long length = piece.bytes / piece.pairCount;
        int end = piece.firstPair + piece.pairCount;
        long done = 0;
        for (int pair = piece.firstPair; pair < end; ) {
            long offset = gather.fileOffset(pair);
            int next = pair + 1;
            while (next < end && gather.fileOffset(next) == offset + (next - pair) * length) {
                next++;
            }
            long wanted = (next - pair) * length;
            long got = fillPair(piece, offset, base + done, wanted, block);
            if (got < 0) {
                return got;
            }
            done += got;
            if (got < wanted) {
                return done;
            }
            pair = next;
        }
        return done;
    }

    /** Reads one range to {@code address}; what does not start and end with a block is read ahead of it and moved. */
    private long fillPair(Piece piece, long fileOffset, long address, long bytes, long block) throws IOException {
        if (((fileOffset | address | bytes) & (block - 1)) == 0) {
            return read(piece, fileOffset, address, bytes, block);
        }
        long skip = fileOffset & (block - 1);
        long cover = alignUp(skip + bytes, block);
        long ahead = alignUp(address, block); // later pairs come there, not earlier ones
        if (!fits(piece, ahead, cover)) {
            return Results.TOO_WIDE;
        }
        long covered = read(piece, fileOffset - skip, ahead, cover, block);
        if (covered < 0) {
            return covered;
        }
        long got = clamp(covered - skip, bytes);
        host.move(address, ahead + skip, got);
        return got;
    }

    /**
     * Reads until all is there or the file ends. A count that ends amid a block is the end of the file, or of a read that
     * was interrupted; to go on from there would be refused, so the block is read again. Where no more comes, the size of
     * the file tells the two apart.
     */
    private long read(Piece piece, long fileOffset, long address, long bytes, long block) throws IOException {
        long done = 0;
        int vain = 0;
        while (done < bytes) {
            long from = done & -block;
            long got = piece.bytesBy(host).read(piece.file(), fileOffset + from, address + from, bytes - from);
            if (got < 0) {
                return Results.ofHost(got);
            }
            if (from + got > done) {
                done = from + got;
                vain = 0;
            } else if (got == 0 || piece.file().size() <= fileOffset + done) {
                return done;
            } else if (++vain > MOST_IN_VAIN) {
                throw new IOException("no more than " + done + " bytes of " + bytes + " at " + fileOffset
                        + " come, and the file is longer");
            }
        }
        return done;
    }

    private static boolean fits(Piece piece, long address, long bytes) {
        DeviceMemory slot = piece.slot();
        return address + bytes <= slot.hostAddress() + slot.bytes();
    }

    private static long alignUp(long value, long block) {
        return (value + block - 1) & -block;
    }

    private static long clamp(long value, long most) {
        return Math.max(0, Math.min(value, most));
    }
}
