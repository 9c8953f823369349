// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.BufferRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.plan.SegmentCursor;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** The segments of a transfer that is more than one, or whose edges need a bounce buffer. I/O queue only. */
final class SegmentPlan implements SegmentCursor.Ground {

    // Of a read that is cut for the sake of its latency: each part wakes a thread.
    private static final long LEAST_PART_BYTES = 256 << 10;
    private static final long PART_UNIT = 64 << 10;

    private final Transfer transfer;
    private final int pathIndex;
    private SegmentCursor cursor;
    private @Nullable ArrayDeque<SegmentCursor> apart; // packed segments that fell short, pair by pair

    SegmentPlan(Transfer transfer, int pathIndex) {
        this(transfer, pathIndex, Long.MAX_VALUE);
    }

    private SegmentPlan(Transfer transfer, int pathIndex, long mostSegmentBytes) {
        this.transfer = transfer;
        this.pathIndex = pathIndex;
        this.cursor = new SegmentCursor(transfer, this, SegmentSteps.BOUNCE_BYTES, mostSegmentBytes);
    }

    /** Returns true if a transfer, if it has any bytes, is one segment that no bounce buffer is needed for. */
    static boolean isOneAsItIs(Transfer transfer, Limits limits) {
        if (transfer.pairs() != 1 || transfer.length() > limits.segmentBytes()) {
            return false;
        }
        if (!limits.isBlockGranular()) {
            return true;
        }
        return transfer.target() instanceof BufferRegion region
                && ((transfer.fileOffset(0) | region.length()) & (limits.fileAlignment() - 1)) == 0
                && ((EngineBuffer.address(region) + region.offset()) & (limits.memoryAlignment() - 1)) == 0;
    }

    static boolean isWorthDividing(Transfer transfer) {
        return transfer.isRead() && transfer.length() >= 2 * LEAST_PART_BYTES;
    }

    /**
     * Creates the plan of a read in at least so many segments of one size, or a multiple of that number, but none
     * smaller than is worth it.
     */
    static SegmentPlan divided(Transfer transfer, int pathIndex, int parts) {
        long length = transfer.length();
        StorageFile file = transfer.fileRegion(0).file();
        long turnBytes = parts * nativeFile(file, pathIndex).limits().segmentBytes();
        long segments = parts * ((length + turnBytes - 1) / turnBytes);
        long part = (length + segments - 1) / segments;
        long most = Math.max(LEAST_PART_BYTES, (part + PART_UNIT - 1) & -PART_UNIT);
        return new SegmentPlan(transfer, pathIndex, most);
    }

    private static NativeFile nativeFile(StorageFile file, int pathIndex) {
        return ((EngineFile) file).nativeFile(pathIndex);
    }

    /** Moves to the next segment; returns false if there is none. */
    boolean next() {
        if (cursor.next()) {
            return true;
        }
        while (apart != null && !apart.isEmpty()) {
            cursor = apart.poll();
            if (cursor.next()) {
                return true;
            }
        }
        return false;
    }

    /** Fills {@code segment} with where the current segment is. */
    void fill(Segment segment) {
        SegmentCursor at = cursor;
        segment.pair = at.pair();
        segment.pairCount = at.pairCount();
        segment.fileOffset = at.fileOffset();
        segment.memoryOffset = at.targetOffset();
        segment.bytes = at.bytes();
        segment.packed = at.kind() == SegmentCursor.Kind.PACKED;
        if (at.kind() == SegmentCursor.Kind.BOUNCE) {
            segment.goThrough(at.coverOffset(), at.coverBytes(), at.isMerge());
        }
    }

    /** Adds the pairs of a packed segment that fell short, one by one. */
    void startApart(Segment packed) {
        if (apart == null) {
            apart = new ArrayDeque<>();
        }
        apart.add(cursor.apart(packed.pair, packed.pairCount));
    }

    /** Moves to the end, and records that no segment on the way moved anything. */
    void abandonRest(Shortfall shortfall) {
        while (next()) {
            SegmentCursor at = cursor;
            boolean packed = at.kind() == SegmentCursor.Kind.PACKED;
            long skip = packed ? 0 : at.fileOffset() - transfer.fileOffset(at.pair());
            shortfall.fellShort(at.pair(), skip, at.bytes(), 0);
        }
    }

    @Override
    public Limits limits(StorageFile file) {
        return nativeFile(file, pathIndex).limits();
    }

    @Override
    public long address(Target target) {
        return target instanceof BufferRegion region ? EngineBuffer.address(region) : 0;
    }

    @Override
    public long slack(StorageFile file, Target target) {
        return EngineBuffer.slack(nativeFile(file, pathIndex), (BufferRegion) target);
    }
}
