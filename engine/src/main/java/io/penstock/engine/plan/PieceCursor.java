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
 * The planner: cuts a transfer into pieces, each what one native request or one slot carries. Pure; allocates nothing
 * per piece, and moves on by {@link #next}. Pairs of length 0 give no piece, so a transfer may have none.
 *
 * <p>Pairs that lie side by side in the same file and in the same buffer are first joined into one {@link Run}; where
 * the limits allow it, scattered pairs of a gather are packed into one request.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
public final class PieceCursor {

    /** How a piece travels. */
    public enum Kind {
        /** By one native request, as it is. */
        BODY,
        /** Through a slot, because the file or the memory is not aligned there. */
        BOUNCE,
        /** Several pairs of a gather by one native request. */
        PACKED
    }

    /** What the planner must know beside the transfer; asked once per run, and once for a whole gather. */
    public interface Ground {

        /** Returns what requests on a file must look like. */
        Limits limits(StorageFile file);

        /** Returns the address from which offsets in the target's buffer count for alignment; 0 for an opaque handle. */
        long address(Target target);

        /** Returns how many bytes behind a target a read may overwrite: none unless it ends where its buffer does. */
        default long slack(StorageFile file, Target target) {
            return 0;
        }
    }

    private final Transfer transfer;
    private final Ground ground;
    private final long slotBytes;
    private final boolean joins; // false: every pair by itself
    private final int firstPair;
    private final int endPair;
    private final Run run;

    // Gather only: the target of a pair is an object made anew at each call, so what all pairs share is asked once.
    private final long blockBytes;
    private final @Nullable BufferRegion firstBlock;
    private Limits limits;
    private long address;

    private int nextPair;
    private Kind kind = Kind.BODY;
    private int pair;
    private int pairCount;
    private long pairStart; // offset in the file at which pair starts

    /**
     * Makes a cursor in front of the first piece.
     *
     * @param slotBytes the bytes of a bounce slot: the longest cover
     */
    public PieceCursor(Transfer transfer, Ground ground, long slotBytes) {
        this(transfer, ground, slotBytes, true, 0, transfer.pairs());
    }

    private PieceCursor(Transfer transfer, Ground ground, long slotBytes, boolean joins, int firstPair, int endPair) {
        this.transfer = transfer;
        this.ground = ground;
        this.slotBytes = slotBytes;
        this.joins = joins;
        this.firstPair = firstPair;
        this.endPair = endPair;
        this.nextPair = firstPair;
        this.run = new Run(slotBytes);
        FileRegion first = transfer.fileRegion(0);
        this.firstBlock = transfer.isGather() ? (BufferRegion) transfer.target(0) : null;
        this.blockBytes = first.length();
        this.limits = ground.limits(first.file());
        if (firstBlock != null) {
            this.address = ground.address(firstBlock);
            run.within(limits, address, null);
        }
    }

    /** Returns a cursor over some of the pairs, each by itself: what to do after a packed piece has failed. */
    public PieceCursor apart(int firstPair, int count) {
        return new PieceCursor(transfer, ground, slotBytes, false, firstPair, firstPair + count);
    }

    /** Returns how many pieces there are from the first on, wherever this cursor stands. */
    public long count() {
        PieceCursor other = new PieceCursor(transfer, ground, slotBytes, joins, firstPair, endPair);
        long count = 0;
        while (other.next()) {
            count++;
        }
        return count;
    }

    /** Moves to the next piece; false if there is none, and then for good. */
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

    // Starts a run, or answers true where it made a packed piece instead.
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
        int most = (int) Math.min(endPair - pair, limits.pieceBytes() / blockBytes);
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
        limits = ground.limits(from.file());
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

    // Which of the pairs of a run the current piece is part of.
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

    /** Returns how the piece travels. */
    public Kind kind() {
        return kind;
    }

    /** Returns the first pair that the piece is part of; it need not start where the pair starts. */
    public int pair() {
        return pair;
    }

    /** Returns how many pairs the piece is part of; those of length 0 in between count. */
    public int pairCount() {
        return pairCount;
    }

    /** Returns where the piece starts in the file; for PACKED, where its first pair does. */
    public long fileOffset() {
        return kind == Kind.PACKED ? pairStart : run.fileOffset();
    }

    /** Returns where the piece starts in the target's buffer, or how far behind the start of an image region. */
    public long targetOffset() {
        return kind == Kind.PACKED ? targetOffset(pair) : run.targetOffset();
    }

    /** Returns how many bytes of the transfer it carries. */
    public long bytes() {
        return kind == Kind.PACKED ? pairCount * blockBytes : run.bytes();
    }

    /** Returns where the blocks start that the slot of a BOUNCE holds. */
    public long coverOffset() {
        return run.coverOffset();
    }

    /** Returns the bytes of these blocks; they may reach beyond the end of the file. */
    public long coverBytes() {
        return run.coverBytes();
    }

    /** Returns whether a write of this piece must read its cover first: it does not fill its blocks. */
    public boolean isMerge() {
        return kind == Kind.BOUNCE && run.coverBytes() != run.bytes();
    }
}
