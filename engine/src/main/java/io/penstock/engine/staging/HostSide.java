// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.NativeError;
import io.penstock.Transfer;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.io.IOException;

/**
 * The host I/O of a staging worker: reads and writes the file until the request is complete or the file ends. If the
 * file has blocks, reads are extended to whole blocks.
 *
 * <p><b>Result:</b> bytes, or a negative number, with the failure in the request. An error takes precedence over the
 * bytes before it, since a short count means that the file has ended (rule 103); the I/O queue may submit the request
 * again as a whole.
 */
final class HostSide {

    /** The result of a failed step; the request has the failure. */
    private static final long FAILED = -1;

    // A copy whose target lies 1 to 16 bytes further within its page than its source takes four times as long on some
    // processors (tools/benchmarks/experiments/aligned.c), and data may lie anywhere in a file. So the place in the
    // staging buffer is shifted as the place in the file is, by multiples of 16, which suits texels of all sizes.
    private static final long SHIFTS = 0x30;

    private final HostBytes host;

    HostSide(HostBytes host) {
        this.host = host;
    }

    /** Returns whether the request needs no staging buffer: the processor reaches its memory, and so does host I/O. */
    boolean reachesDirectly(StagedRequest staged) {
        if (staged.request.memory().hostAddress() == 0) {
            return false;
        }
        long block = host.blockBytes(staged.file());
        long edges = staged.request.hostAddress() | staged.request.fileOffset() | staged.request.bytes();
        return block == 1 || (staged.request.packed() == null && (edges & (block - 1)) == 0);
    }

    /** Executes the next step of a request, unless that is a copy. */
    long run(StagedRequest staged) {
        try {
            return switch (staged.step) {
                case FILL -> fill(staged, staged.staging().hostAddress());
                case DRAIN -> write(staged, staged.staging().hostAddress());
                case HOST -> whole(staged);
                case SYNC -> moved(staged, host.sync(staged.file()));
                case COPY -> throw new IllegalStateException("a copy must be executed by the device");
            };
        } catch (IOException | RuntimeException | Error e) {
            staged.failure = host.failure(staged.request.kind(), e);
            return FAILED;
        }
    }

    private long whole(StagedRequest staged) throws IOException {
        if (staged.request.isCopy()) {
            moveBuffer(staged, staged.request.bytes());
            return staged.request.bytes();
        }
        if (!staged.hasBuffer()) {
            return staged.request.isInward()
                    ? fill(staged, staged.request.hostAddress())
                    : write(staged, staged.request.hostAddress());
        }
        if (!staged.request.isInward()) {
            moveBuffer(staged, staged.request.bytes());
            return write(staged, staged.staging().hostAddress());
        }
        long got = fill(staged, staged.staging().hostAddress());
        if (got > 0) {
            moveBuffer(staged, got);
        }
        return got;
    }

    private void moveBuffer(StagedRequest staged, long bytes) {
        long inBuffer = staged.staging().hostAddress() + staged.stagingOffset;
        if (staged.request.isInward()) {
            host.move(staged.request.hostAddress(), inBuffer, bytes);
        } else {
            host.move(inBuffer, staged.request.hostAddress(), bytes);
        }
    }

    private long write(StagedRequest staged, long address) throws IOException {
        long done = 0;
        while (done < staged.request.bytes()) {
            long wrote = staged.bytesBy(host)
                    .write(
                            staged.file(),
                            staged.request.fileOffset() + done,
                            address + done,
                            staged.request.bytes() - done);
            if (wrote <= 0) {
                return wrote < 0 ? moved(staged, wrote) : done;
            }
            done += wrote;
        }
        return done;
    }

    private long fill(StagedRequest staged, long base) throws IOException {
        long block = host.blockBytes(staged.file());
        Transfer gather = staged.request.packed();
        if (gather != null) {
            return fillPacked(staged, gather, base, block);
        }
        if (block == 1) {
            return fillShifted(staged, base);
        }
        long skip = staged.request.fileOffset() & (block - 1);
        long cover = alignUp(skip + staged.request.bytes(), block);
        if (cover != staged.request.bytes() && !fits(staged, base, cover)) {
            return tooWide(staged);
        }
        staged.stagingOffset = skip;
        long got = read(staged, staged.request.fileOffset() - skip, base, cover, block);
        return got < 0 ? got : clamp(got - skip, staged.request.bytes());
    }

    private long fillShifted(StagedRequest staged, long base) throws IOException {
        Request request = staged.request;
        long shift = request.fileOffset() & SHIFTS;
        staged.stagingOffset = staged.hasBuffer() && fits(staged, base + shift, request.bytes()) ? shift : 0;
        return read(staged, request.fileOffset(), base + staged.stagingOffset, request.bytes(), 1);
    }

    /**
     * Reads adjacent pairs, up to the first short read: the result counts a prefix of the request, as for any other.
     * Pairs that are adjacent in the file too are read as one.
     */
    private long fillPacked(StagedRequest staged, Transfer gather, long base, long block) throws IOException {
        long length = staged.request.bytes() / staged.request.pairCount();
        int end = staged.request.firstPair() + staged.request.pairCount();
        long done = 0;
        for (int pair = staged.request.firstPair(); pair < end; ) {
            long offset = gather.fileOffset(pair);
            int next = pair + 1;
            while (next < end && gather.fileOffset(next) == offset + (next - pair) * length) {
                next++;
            }
            long wanted = (next - pair) * length;
            long got = fillPair(staged, offset, base + done, wanted, block);
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

    /**
     * Reads one range to {@code address}; a range that is not aligned to blocks is read ahead of its place and moved.
     */
    private long fillPair(StagedRequest staged, long fileOffset, long address, long bytes, long block)
            throws IOException {
        if (((fileOffset | address | bytes) & (block - 1)) == 0) {
            return read(staged, fileOffset, address, bytes, block);
        }
        long skip = fileOffset & (block - 1);
        long cover = alignUp(skip + bytes, block);
        long ahead = alignUp(address, block); // that place belongs to later pairs, not to earlier ones
        if (!fits(staged, ahead, cover)) {
            return tooWide(staged);
        }
        long covered = read(staged, fileOffset - skip, ahead, cover, block);
        if (covered < 0) {
            return covered;
        }
        long got = clamp(covered - skip, bytes);
        host.move(address, ahead + skip, got);
        return got;
    }

    private long read(StagedRequest staged, long fileOffset, long address, long bytes, long block) throws IOException {
        return moved(staged, staged.bytesBy(host).readToEnd(staged.file(), fileOffset, address, bytes, block));
    }

    /** Returns the bytes that a call moved; records a failure in the request. */
    private long moved(StagedRequest staged, long answer) {
        if (answer >= 0) {
            return answer;
        }
        staged.failure = host.failure(staged.request.kind(), answer);
        return FAILED;
    }

    private static long tooWide(StagedRequest staged) {
        NativeError error = new NativeError("staging", 1, "BLOCKS_DO_NOT_FIT_BUFFER");
        staged.failure = new NativeFailure(error, NativeFailure.Kind.PERMANENT);
        return FAILED;
    }

    private static boolean fits(StagedRequest staged, long address, long bytes) {
        DeviceMemory staging = staged.staging();
        return address + bytes <= staging.hostAddress() + staging.bytes();
    }

    private static long alignUp(long value, long block) {
        return (value + block - 1) & -block;
    }

    private static long clamp(long value, long most) {
        return Math.max(0, Math.min(value, most));
    }
}
