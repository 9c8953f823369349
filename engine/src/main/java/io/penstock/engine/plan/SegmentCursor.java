// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.BufferRegion;
import io.penstock.FileRegion;
import io.penstock.ImageRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import org.jspecify.annotations.Nullable;

/**
 * The planner: cuts a transfer into segments, each carried by one native request or one bounce buffer. Pure; allocates
 * nothing per segment; advanced by {@link #next}. Pairs of length 0 give no segment, so a transfer may have none.
 *
 * <p>Pairs that are contiguous in the same file and in the same buffer are first joined into one {@link Run}; where the
 * limits allow it, scattered pairs of a gather are packed into one request.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
public final class SegmentCursor {

    /** How a segment is carried. */
    public enum Kind {
        /** By one native request. */
        BODY,
        /** Through a bounce buffer, because the file or the memory is not aligned there. */
        BOUNCE,
        /** Several pairs of a gather, by one native request. */
        PACKED
    }

    /** The context of a plan besides the transfer; queried once per run, and once for a whole gather. */
    public interface Ground {

        /** Returns the constraints of requests on a file. */
        Limits limits(StorageFile file);

        /**
         * Returns the address from which offsets in the target's buffer count for alignment; 0 for an opaque handle.
         */
        long address(Target target);

        /**
         * Returns the number of bytes past a target that a read may overwrite: 0 unless it ends at the end of its
         * buffer.
         */
        default long slack(StorageFile file, Target target) {
            return 0;
        }
    }

    private final Transfer transfer;
    private final Ground ground;
    private final long bounceBytes;
    private final long mostSegmentBytes;
    private final boolean joins; // false: every pair separately
    private final int firstPair;
    private final int endPair;
    private final Run run;

    // Gather only: the target of a pair is a new object at each call, so what all pairs share is queried once.
    private final long blockBytes;
    private final @Nullable BufferRegion firstBlock;
    private Limits limits;
    private Limits uncut; // of limits
    private long address;

    private int nextPair;
    private Kind kind = Kind.BODY;
    private int pair;
    private int pairCount;
    private long pairStart; // offset in the file at which pair starts

    /**
     * Creates a cursor before the first segment.
     *
     * @param bounceBytes the bytes of a bounce buffer: the longest cover
     */
    public SegmentCursor(Transfer transfer, Ground ground, long bounceBytes) {
        this(transfer, ground, bounceBytes, Long.MAX_VALUE);
    }

    /**
     * Creates a cursor before the first segment.
     *
     * @param mostSegmentBytes cuts segments shorter than the limits of files do
     */
    public SegmentCursor(Transfer transfer, Ground ground, long bounceBytes, long mostSegmentBytes) {
        this(transfer, ground, bounceBytes, mostSegmentBytes, true, 0, transfer.pairs());
    }

    private SegmentCursor(
            Transfer transfer,
            Ground ground,
            long bounceBytes,
            long mostSegmentBytes,
            boolean joins,
            int firstPair,
            int endPair) {
        this.transfer = transfer;
        this.ground = ground;
        this.bounceBytes = bounceBytes;
        this.mostSegmentBytes = mostSegmentBytes;
        this.joins = joins;
        this.firstPair = firstPair;
        this.endPair = endPair;
        this.nextPair = firstPair;
        this.run = new Run(bounceBytes);
        FileRegion first = transfer.fileRegion(0);
        this.firstBlock = transfer.isGather() ? (BufferRegion) transfer.target(0) : null;
        this.blockBytes = first.length();
        this.uncut = ground.limits(first.file());
        this.limits = uncut.withSegments(mostSegmentBytes);
        if (firstBlock != null) {
            this.address = ground.address(firstBlock);
            run.within(limits, address, null);
        }
    }

    /** Returns a cursor over some of the pairs, each separately: the plan after a packed segment has failed. */
    public SegmentCursor apart(int firstPair, int count) {
        return new SegmentCursor(transfer, ground, bounceBytes, mostSegmentBytes, false, firstPair, firstPair + count);
    }

    /** Returns the number of all segments, independent of the position of this cursor. */
    public long count() {
        SegmentCursor other =
                new SegmentCursor(transfer, ground, bounceBytes, mostSegmentBytes, joins, firstPair, endPair);
        long count = 0;
        while (other.next()) {
            count++;
        }
        return count;
    }

    /** Moves to the next segment; returns false if there is none, and from then on. */
    public boolean next() {
        if (!run.next()) {
            while (nextPair < endPair && length(nextPair) == 0) {
                nextPair++;
            }
            if (nextPair == endPair) {
                return false;
            }
            pair = nextPair;
            pairStart = transfer.fileOffset(pair);
            if (firstBlock != null ? startBlocks(firstBlock) : startPairs()) {
                return true;
            }
            run.next();
        }
        kind = run.isBounce() ? Kind.BOUNCE : Kind.BODY;
        findPairs();
        return true;
    }

    // Starts a run, or returns true if it produced a packed segment instead.
    private boolean startBlocks(BufferRegion first) {
        long offset = pairStart;
        int joined = 1;
        if (joins) {
            while (pair + joined < endPair && transfer.fileOffset(pair + joined) == offset + joined * blockBytes) {
                joined++;
            }
            int packed = limits.packs() ? packable() : 0;
            if (packed > joined) {
                kind = Kind.PACKED;
                pairCount = packed;
                nextPair = pair + packed;
                return true;
            }
        }
        run.start(offset, first.offset() + pair * blockBytes, joined * blockBytes, 0);
        nextPair = pair + joined;
        return false;
    }

    private int packable() {
        long fileMask = limits.fileAlignment() - 1;
        long memoryMask = limits.memoryAlignment() - 1;
        int most = (int) Math.min(endPair - pair, limits.segmentBytes() / blockBytes);
        int packed = 0;
        while (packed < most
                && ((transfer.fileOffset(pair + packed) | blockBytes) & fileMask) == 0
                && ((address + targetOffset(pair + packed)) & memoryMask) == 0) {
            packed++;
        }
        return packed;
    }

    private boolean startPairs() {
        FileRegion from = transfer.fileRegion(pair);
        Target to = transfer.target(pair);
        ImageRegion image = to instanceof ImageRegion region ? region : null;
        Limits found = ground.limits(from.file());
        if (found != uncut) { // most runs are of the same file
            uncut = found;
            limits = found.withSegments(mostSegmentBytes);
        }
        address = ground.address(to);
        run.within(limits, address, image);
        long bytes = from.length();
        Target last = to;
        nextPair = pair + 1;
        while (joins && nextPair < endPair && to instanceof BufferRegion region && goesOn(from, region, bytes)) {
            last = length(nextPair) == 0 ? last : transfer.target(nextPair);
            bytes += length(nextPair++);
        }
        long slack = transfer.isRead() && image == null ? ground.slack(from.file(), last) : 0;
        run.start(pairStart, image == null ? targetOffset(pair) : 0, bytes, slack);
        return false;
    }

    private boolean goesOn(FileRegion from, BufferRegion to, long bytes) {
        FileRegion nextFile = transfer.fileRegion(nextPair);
        return nextFile.length() == 0
                || (nextFile.file() == from.file()
                        && nextFile.offset() == from.offset() + bytes
                        && transfer.target(nextPair) instanceof BufferRegion nextTarget
                        && nextTarget.buffer() == to.buffer()
                        && nextTarget.offset() == to.offset() + bytes);
    }

    // Finds the pairs of a run that the current segment is part of.
    private void findPairs() {
        while (run.fileOffset() - pairStart >= length(pair)) {
            pairStart += length(pair++);
        }
        pairCount = 1;
        long covered = pairStart + length(pair) - run.fileOffset();
        while (covered < run.bytes()) {
            covered += length(pair + pairCount++);
        }
    }

    private long length(int pair) {
        return firstBlock != null ? blockBytes : transfer.fileRegion(pair).length();
    }

    private long targetOffset(int pair) {
        return firstBlock != null
                ? firstBlock.offset() + pair * blockBytes
                : ((BufferRegion) transfer.target(pair)).offset();
    }

    /** Returns how the segment is carried. */
    public Kind kind() {
        return kind;
    }

    /** Returns the first pair that the segment is part of; it need not start where the pair starts. */
    public int pair() {
        return pair;
    }

    /** Returns the number of pairs that the segment is part of, including pairs of length 0 in between. */
    public int pairCount() {
        return pairCount;
    }

    /** Returns where the segment starts in the file; for PACKED, where its first pair does. */
    public long fileOffset() {
        return kind == Kind.PACKED ? pairStart : run.fileOffset();
    }

    /** Returns where the segment starts in the target's buffer, or its distance from the start of an image region. */
    public long targetOffset() {
        return kind == Kind.PACKED ? targetOffset(pair) : run.targetOffset();
    }

    /** Returns the bytes of the transfer that it carries. */
    public long bytes() {
        return kind == Kind.PACKED ? pairCount * blockBytes : run.bytes();
    }

    /** Returns the offset of the blocks in the bounce buffer of a BOUNCE. */
    public long coverOffset() {
        return run.coverOffset();
    }

    /** Returns the bytes of these blocks; they may reach beyond the end of the file. */
    public long coverBytes() {
        return run.coverBytes();
    }

    /** Returns true if a write of this segment must read its cover first, because it does not fill its blocks. */
    public boolean isMerge() {
        return kind == Kind.BOUNCE && run.coverBytes() != run.bytes();
    }
}
