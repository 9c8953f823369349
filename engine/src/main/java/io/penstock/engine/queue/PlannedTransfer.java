// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.BufferRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.plan.PieceCursor;
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
 * A transfer as the pieces that it is cut into: which is next, what it is between which native files and memory, and
 * what its end adds to the whole.
 *
 * <p><b>Threading:</b> the lane's, once it has the transfer.
 */
abstract class PlannedTransfer extends CarriedTransfer implements PieceCursor.Ground {

    private @Nullable PieceCursor cursor;
    private @Nullable ArrayDeque<PieceCursor> apart; // packed pieces that fell short, pair by pair
    private boolean planned;

    @Nullable
    public DeviceMemory @Nullable []
            images; // those that its targets are, by pair; the intake's, which is before the lane

    PlannedTransfer(Transfer transfer) {
        super(transfer);
    }

    /** Returns whether no further piece is to be started. */
    abstract boolean isStopped();

    /** Goes to the next piece; most transfers are one piece and never make a cursor. */
    final boolean nextPiece() {
        if (planned) {
            return cursor != null && (cursor.next() || nextApart());
        }
        planned = true;
        Limits limits = nativeFile(0).limits();
        if (transfer().pairs() == 1 && transfer().length() <= limits.pieceBytes() && fitsAsItIs(limits)) {
            return transfer().length() > 0;
        }
        cursor = new PieceCursor(transfer(), this, Bounces.SLOT_BYTES);
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
        return ((EngineFile) file).nativeFile(routeIndex()).limits();
    }

    @Override
    public final long address(Target target) {
        return target instanceof BufferRegion region ? EngineBuffer.address(region) : 0;
    }

    @Override
    public final long slack(StorageFile file, Target target) {
        return EngineBuffer.slack(((EngineFile) file).nativeFile(routeIndex()), (BufferRegion) target);
    }

    /** Fills {@code flight} with the current piece. */
    final void fillPiece(Flight flight) {
        flight.kind = transfer().isRead() ? Request.Kind.READ : Request.Kind.WRITE;
        PieceCursor piece = cursor;
        flight.pair = piece == null ? 0 : piece.pair();
        flight.pairCount = piece == null ? 1 : piece.pairCount();
        flight.file = nativeFile(flight.pair);
        flight.memory = memory(flight.pair);
        if (piece == null) {
            flight.fileOffset = transfer().fileOffset(0);
            flight.memoryOffset = transfer().target(0) instanceof BufferRegion region ? region.offset() : 0;
            flight.bytes = transfer().length();
            return;
        }
        flight.fileOffset = piece.fileOffset();
        flight.memoryOffset = piece.targetOffset();
        flight.bytes = piece.bytes();
        flight.packed = piece.kind() == PieceCursor.Kind.PACKED;
        if (piece.kind() == PieceCursor.Kind.BOUNCE) {
            flight.step = Flight.Step.FILL;
            flight.merges = piece.isMerge();
            flight.coverOffset = piece.coverOffset();
            flight.coverBytes = piece.coverBytes();
        }
    }

    private NativeFile nativeFile(int pair) {
        return file(pair).nativeFile(routeIndex());
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

    /** Returns the buffer of a pair, null where that is an image; without allocating for a gather. */
    public final @Nullable EngineBuffer buffer(int pair) {
        Target target = transfer().isGather() ? transfer().target() : transfer().target(pair);
        return target instanceof BufferRegion region ? (EngineBuffer) region.buffer() : null;
    }

    /**
     * Counts what a piece moved.
     *
     * @return whether there are pieces to start again: a packed one fell short, and only its pairs, one by one, tell
     *     which of them
     */
    public final boolean pieceEnded(Flight flight) {
        if (flight.packed && flight.moved < flight.bytes) {
            if (!isStopped()) {
                if (apart == null) {
                    apart = new ArrayDeque<>();
                }
                apart.add(Objects.requireNonNull(cursor).apart(flight.pair, flight.pairCount));
                return true;
            }
            flight.moved = 0;
        }
        moved(flight.moved);
        if (flight.moved < flight.bytes) {
            long skip = flight.packed ? 0 : flight.fileOffset - transfer().fileOffset(flight.pair);
            fellShort(flight.pair, skip, flight.bytes, flight.moved);
        }
        return false;
    }

    /** What was never started was not moved either. */
    final void giveUpTheRest() {
        while (planned && nextPiece()) {
            PieceCursor piece = Objects.requireNonNull(cursor); // without one there is a single piece, and it was first
            boolean packed = piece.kind() == PieceCursor.Kind.PACKED;
            long skip = packed ? 0 : piece.fileOffset() - transfer().fileOffset(piece.pair());
            fellShort(piece.pair(), skip, piece.bytes(), 0);
        }
    }
}
