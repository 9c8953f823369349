// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.BufferRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.plan.SegmentCursor;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A transfer as the segments that it is cut into: which is next, its native file and memory, and its contribution to
 * the result.
 *
 * <p><b>Threading:</b> I/O queue only, once it has the transfer.
 */
abstract class PlannedTransfer extends CarriedTransfer implements SegmentCursor.Ground {

    // Of a read that is cut for the sake of its latency: each part wakes a thread.
    private static final long LEAST_PART_BYTES = 256 << 10;
    private static final long PART_UNIT = 64 << 10;

    private @Nullable SegmentCursor cursor;
    private @Nullable ArrayDeque<SegmentCursor> apart; // packed segments that fell short, pair by pair
    private boolean planned;

    @Nullable
    public DeviceMemory @Nullable []
            images; // the images among its targets, by pair; set at intake, before the I/O queue

    PlannedTransfer(Transfer transfer) {
        super(transfer);
    }

    /** Returns true if no further segment may be started. */
    abstract boolean isStopped();

    /** Returns whether it may be cut so that several segments of it are read at the same time. */
    final boolean isDivisible() {
        return !planned
                && transfer().isRead()
                && transfer().length() >= 2 * LEAST_PART_BYTES
                && images == null
                && file(0).async() == null;
    }

    /** Cuts it into at least so many segments of one size, or a multiple of that number, but none smaller than is worth it. */
    final void divide(int parts) {
        long length = transfer().length();
        long turnBytes = parts * nativeFile(0).limits().segmentBytes();
        long segments = parts * ((length + turnBytes - 1) / turnBytes);
        long part = (length + segments - 1) / segments;
        long most = Math.max(LEAST_PART_BYTES, (part + PART_UNIT - 1) & -PART_UNIT);
        cursor = new SegmentCursor(transfer(), this, Bounces.BOUNCE_BYTES, most);
    }

    /** Moves to the next segment; most transfers are one segment and never create a cursor. */
    final boolean nextSegment() {
        if (planned) {
            return cursor != null && (cursor.next() || nextApart());
        }
        planned = true;
        if (cursor == null) {
            Limits limits = nativeFile(0).limits();
            if (transfer().pairs() == 1 && transfer().length() <= limits.segmentBytes() && fitsAsItIs(limits)) {
                return transfer().length() > 0;
            }
            cursor = new SegmentCursor(transfer(), this, Bounces.BOUNCE_BYTES, Long.MAX_VALUE);
        }
        return cursor.next();
    }

    private boolean fitsAsItIs(Limits limits) {
        if (!limits.isBlockGranular()) {
            return true;
        }
        return transfer().target() instanceof BufferRegion region
                && ((transfer().fileOffset(0) | region.length()) & (limits.fileAlignment() - 1)) == 0
                && ((address(region) + region.offset()) & (limits.memoryAlignment() - 1)) == 0;
    }

    private boolean nextApart() {
        while (apart != null && !apart.isEmpty()) {
            cursor = apart.poll();
            if (cursor.next()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public final Limits limits(StorageFile file) {
        return ((EngineFile) file).nativeFile(pathIndex()).limits();
    }

    @Override
    public final long address(Target target) {
        return target instanceof BufferRegion region ? EngineBuffer.address(region) : 0;
    }

    @Override
    public final long slack(StorageFile file, Target target) {
        return EngineBuffer.slack(((EngineFile) file).nativeFile(pathIndex()), (BufferRegion) target);
    }

    /** Fills {@code segment} with the current segment. */
    final void fillSegment(Segment segment) {
        segment.kind = transfer().isRead() ? Request.Kind.READ : Request.Kind.WRITE;
        SegmentCursor at = cursor;
        segment.pair = at == null ? 0 : at.pair();
        segment.pairCount = at == null ? 1 : at.pairCount();
        segment.file = nativeFile(segment.pair);
        segment.async = file(segment.pair).async();
        segment.memory = memory(segment.pair);
        if (at == null) {
            segment.fileOffset = transfer().fileOffset(0);
            segment.memoryOffset = transfer().target(0) instanceof BufferRegion region ? region.offset() : 0;
            segment.bytes = transfer().length();
            return;
        }
        segment.fileOffset = at.fileOffset();
        segment.memoryOffset = at.targetOffset();
        segment.bytes = at.bytes();
        segment.packed = at.kind() == SegmentCursor.Kind.PACKED;
        if (at.kind() == SegmentCursor.Kind.BOUNCE) {
            segment.step = Segment.Step.FILL;
            segment.merges = at.isMerge();
            segment.coverOffset = at.coverOffset();
            segment.coverBytes = at.coverBytes();
        }
    }

    private NativeFile nativeFile(int pair) {
        return file(pair).nativeFile(pathIndex());
    }

    private DeviceMemory memory(int pair) {
        EngineBuffer buffer = buffer(pair);
        return buffer != null ? buffer.memory() : Objects.requireNonNull(Objects.requireNonNull(images)[pair]);
    }

    /** Returns the file of a pair; without allocating for a gather. */
    public final EngineFile file(int pair) {
        return (EngineFile)
                transfer().fileRegion(transfer().isGather() ? 0 : pair).file();
    }

    /** Returns the buffer of a pair, null if its target is an image; without allocating for a gather. */
    public final @Nullable EngineBuffer buffer(int pair) {
        Target target = transfer().isGather() ? transfer().target() : transfer().target(pair);
        return target instanceof BufferRegion region ? (EngineBuffer) region.buffer() : null;
    }

    /**
     * Counts what a segment moved.
     *
     * @return true if there are segments to start again: a packed one fell short, and its pairs must be started one by
     *     one to find out which
     */
    public final boolean segmentEnded(Segment segment) {
        if (segment.packed && segment.moved < segment.bytes) {
            if (!isStopped()) {
                if (apart == null) {
                    apart = new ArrayDeque<>();
                }
                apart.add(Objects.requireNonNull(cursor).apart(segment.pair, segment.pairCount));
                return true;
            }
            segment.moved = 0;
        }
        moved(segment.moved);
        if (segment.moved < segment.bytes) {
            long skip = segment.packed ? 0 : segment.fileOffset - transfer().fileOffset(segment.pair);
            fellShort(segment.pair, skip, segment.bytes, segment.moved);
        }
        return false;
    }

    /** Records that segments that were never started moved nothing. */
    final void abandonRest() {
        while (planned && nextSegment()) {
            SegmentCursor at = Objects.requireNonNull(cursor); // without a cursor there is a single segment, the first
            boolean packed = at.kind() == SegmentCursor.Kind.PACKED;
            long skip = packed ? 0 : at.fileOffset() - transfer().fileOffset(at.pair());
            fellShort(at.pair(), skip, at.bytes(), 0);
        }
    }
}
