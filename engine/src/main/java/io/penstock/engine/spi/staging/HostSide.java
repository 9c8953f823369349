// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.NativeError;
import io.penstock.Transfer;
import io.penstock.engine.host.HostBytes;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;

/**
 * What a filler does for a piece: reads and writes the file until the piece is complete or the file ends. Where a
 * file has blocks, reads take in the blocks around what was asked for.
 *
 * <p><b>Result:</b> bytes, or a negative number, and the piece says why. An error wins over the bytes before it, since a short
 * count means that the file has ended (rule 103); the lane may submit the piece again as a whole.
 */
final class HostSide {

    private static final int MOST_IN_VAIN = 64; // reads of a block that bring no more of it

    /** What a step answers that has failed: the piece says why. */
    private static final long FAILED = -1;

    private final HostBytes host;

    HostSide(HostBytes host) {
        this.host = host;
    }

    /** Returns whether the piece can go without a slot: the processor reaches its memory, and so does host I/O. */
    boolean reachesDirectly(Piece piece) {
        if (piece.request.memory().hostAddress() == 0) {
            return false;
        }
        long block = host.blockBytes(piece.file());
        long edges = piece.request.hostAddress() | piece.request.fileOffset() | piece.request.bytes();
        return block == 1 || (piece.request.packed() == null && (edges & (block - 1)) == 0);
    }

    /** Does the next step of a piece, unless that is a copy. */
    long run(Piece piece) {
        try {
            return switch (piece.step) {
                case FILL -> fill(piece, piece.slot().hostAddress());
                case DRAIN -> write(piece, piece.slot().hostAddress());
                case HOST -> whole(piece);
                case SYNC -> moved(piece, host.sync(piece.file()));
                case COPY -> throw new IllegalStateException("a copy is the device's");
            };
        } catch (IOException | RuntimeException | Error e) {
            piece.failure = host.failure(piece.request.kind(), e);
            return FAILED;
        }
    }

    private long whole(Piece piece) throws IOException {
        if (piece.request.isCopy()) {
            moveSlot(piece, piece.request.bytes());
            return piece.request.bytes();
        }
        if (!piece.hasSlot()) {
            return piece.request.isInward()
                    ? fill(piece, piece.request.hostAddress())
                    : write(piece, piece.request.hostAddress());
        }
        if (!piece.request.isInward()) {
            moveSlot(piece, piece.request.bytes());
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
        if (piece.request.isInward()) {
            host.move(piece.request.hostAddress(), inSlot, bytes);
        } else {
            host.move(inSlot, piece.request.hostAddress(), bytes);
        }
    }

    private long write(Piece piece, long address) throws IOException {
        long done = 0;
        while (done < piece.request.bytes()) {
            long wrote = piece.bytesBy(host)
                    .write(
                            piece.file(),
                            piece.request.fileOffset() + done,
                            address + done,
                            piece.request.bytes() - done);
            if (wrote <= 0) {
                return wrote < 0 ? moved(piece, wrote) : done;
            }
            done += wrote;
        }
        return done;
    }

    private long fill(Piece piece, long base) throws IOException {
        long block = host.blockBytes(piece.file());
        Transfer gather = piece.request.packed();
        if (gather != null) {
            return fillPacked(piece, gather, base, block);
        }
        long skip = piece.request.fileOffset() & (block - 1);
        long cover = alignUp(skip + piece.request.bytes(), block);
        if (cover != piece.request.bytes() && !fits(piece, base, cover)) {
            return tooWide(piece);
        }
        piece.slotOffset = skip;
        long got = read(piece, piece.request.fileOffset() - skip, base, cover, block);
        return got < 0 ? got : clamp(got - skip, piece.request.bytes());
    }

    /**
     * Reads pairs side by side, up to the first that the file cuts short: the result counts a prefix of the piece, as
     * for any other. Pairs that follow one another in the file too are read as one.
     */
    private long fillPacked(Piece piece, Transfer gather, long base, long block) throws IOException {
        long length = piece.request.bytes() / piece.request.pairCount();
        int end = piece.request.firstPair() + piece.request.pairCount();
        long done = 0;
        for (int pair = piece.request.firstPair(); pair < end; ) {
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
            return tooWide(piece);
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
                return moved(piece, got);
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

    /** Returns the bytes that a call moved; if it answers a failure, the piece is told. */
    private long moved(Piece piece, long answer) {
        if (answer >= 0) {
            return answer;
        }
        piece.failure = host.failure(piece.request.kind(), answer);
        return FAILED;
    }

    private static long tooWide(Piece piece) {
        NativeError error = new NativeError("staging", 1, "BLOCKS_DO_NOT_FIT_SLOT");
        piece.failure = new NativeFailure(error, NativeFailure.Kind.PERMANENT);
        return FAILED;
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
