// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Route;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A transfer from subscription to the end of its last native command. Operators subclass it, so that a transfer costs
 * one object.
 *
 * <p><b>Threading:</b> {@link #open} and {@link #cancel} on any thread; everything else on the lane that carries it.
 */
abstract class OpenTransfer implements PieceCursor.Ground {

    // OPEN -> CANCELLED by the subscriber, OPEN -> ENDED by the lane: one compare-and-set decides who was first, and
    // with it whether ended() is called (rule 101). Native ends are counted by the lane whatever the state says;
    // CANCELLED -> LET_GO when it has counted the last one.
    private static final int OPEN = 0;
    private static final int CANCELLED = 1;
    private static final int ENDED = 2;
    private static final int LET_GO = 3;
    private static final VarHandle STATE;
    private static final VarHandle ZOMBIE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(OpenTransfer.class, "state", int.class);
            ZOMBIE = lookup.findVarHandle(OpenTransfer.class, "zombie", BusyRegions.Zombie.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Port port;
    private final Transfer transfer;

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    // Set by admit(), before the lane gets the transfer. Volatile because cancel() looks at the lane after it has
    // changed the state, as the lane looks at the state after it has got the transfer: one of the two sees the other.
    private volatile @Nullable Lane lane;
    private @Nullable Route route;
    private int routeIndex;
    private @Nullable Admission admission;
    private WriteBarrier.Epoch @Nullable [] epochs; // of a write, one per pair, or one for a single file

    // Set once, by whoever cancels first; read by the lane after it has lost the state to the cancel.
    private volatile BusyRegions.@Nullable Zombie zombie;

    private final long subscribedNanos = nanos();

    // Lane only.
    private long startedNanos;
    private long endedNanos;
    private long bytes;
    private @Nullable Reach reach; // null while nothing fell short
    private @Nullable NativeFailure failure;
    private @Nullable Throwable error;
    private @Nullable PieceCursor cursor;
    private @Nullable ArrayDeque<PieceCursor> apart; // packed pieces that fell short, pair by pair
    private boolean planned;
    int inFlight;
    boolean exhausted;
    boolean finished;
    boolean expired;

    @Nullable
    DeviceMemory @Nullable [] images; // those that its targets are, by pair; the intake's, which is before the lane

    OpenTransfer(Port port, Transfer transfer) {
        this.port = port;
        this.transfer = transfer;
    }

    // To ask the clock would cost as much as a tenth of all that the lane does for a small transfer.
    private static long nanos() {
        return Thread.currentThread() instanceof LaneThread thread
                ? thread.lane().now()
                : System.nanoTime();
    }

    /** Tells that every native command has ended; on the lane, once, and not after {@link #cancel} won. */
    protected abstract void ended();

    /** As {@link #ended}, in a turn of {@code lane}, which several may end in. */
    void ended(Lane lane) {
        ended();
    }

    final Transfer transfer() {
        return transfer;
    }

    /** Joins the engine's open transfers; neither throws nor blocks nor calls {@link #ended} itself. */
    final void open() {
        port.open(this);
    }

    /** Asks the device to stop and drops the result; any thread, any number of times. */
    void cancel() {
        if ((int) STATE.getVolatile(this) != OPEN) {
            return;
        }
        // Busy first, cancelled then: whoever subscribes after cancel() has returned finds the region busy (rule 205).
        markBusy();
        int found = (int) STATE.compareAndExchange(this, OPEN, CANCELLED);
        if (found == OPEN) {
            markBusy(); // again, since it may have been admitted meanwhile
        }
        // Pairs with finish(): mark, then look whether the device has let go; there: say so, then look for the mark.
        // Where another thread's cancel was first, the mark is its too, and stays.
        int state = (int) STATE.getVolatile(this);
        if (state == ENDED || state == LET_GO) {
            unmarkBusy();
        }
        Lane carrier = lane;
        if (found == OPEN && carrier != null) {
            carrier.post(() -> carrier.stop(this));
        }
    }

    private void markBusy() {
        if (lane == null) {
            return; // the device has not got it
        }
        BusyRegions.Zombie mark = zombie;
        if (mark == null) {
            BusyRegions.Zombie made = new BusyRegions.Zombie(Extents.of(transfer, Identity.OF));
            // Kept before it is added: the lane removes what it finds here. One, however many cancel at a time.
            BusyRegions.Zombie first = (BusyRegions.Zombie) ZOMBIE.compareAndExchange(this, null, made);
            mark = first == null ? made : first;
        }
        BusyRegions.ALL.add(mark);
    }

    private void unmarkBusy() {
        BusyRegions.Zombie mark = zombie;
        if (mark != null) {
            BusyRegions.ALL.remove(mark);
        }
    }

    final boolean isCancelled() {
        int seen = (int) STATE.getVolatile(this);
        return seen == CANCELLED || seen == LET_GO;
    }

    /** Returns its place in the device's own order, where a fence of it is handed out. */
    @Nullable
    FenceOrder order() {
        return null;
    }

    /** Hears, on the lane, that other work may wait on the fence behind it. */
    void placed() {}

    /** Says who carries it, before the lane gets it; no lane if it is refused. */
    final void admit(Route route, int routeIndex, @Nullable Lane lane) {
        this.route = route;
        this.routeIndex = routeIndex;
        this.lane = lane;
    }

    /** Returns whether a lane has it; what was refused has none. */
    final boolean isAdmitted() {
        return lane != null;
    }

    final Port port() {
        return port;
    }

    /** Returns the route that carries it. */
    final Route route() {
        return Objects.requireNonNull(route);
    }

    /** Returns what it waits for before it may start; null for most. */
    final @Nullable Admission admission() {
        return admission;
    }

    final void admission(Admission terms) {
        this.admission = terms;
    }

    /** Counts it in the barriers of its files, so that a later sync covers it. */
    final void acceptWrite() {
        WriteBarrier.Epoch[] accepted = new WriteBarrier.Epoch[transfer.pairs()];
        for (int pair = 0; pair < accepted.length; pair++) {
            accepted[pair] = file(pair).barrier().accept();
        }
        epochs = accepted;
    }

    /** Tells the barriers that it has ended. */
    final void endWrite() {
        WriteBarrier.Epoch[] accepted = epochs;
        for (int pair = 0; accepted != null && pair < accepted.length; pair++) {
            file(pair).barrier().ended(accepted[pair]);
        }
    }

    /** Returns when it must have ended, as {@link System#nanoTime()} counts. */
    final long deadlineNanos() {
        Admission terms = admission;
        return terms == null ? Long.MAX_VALUE : terms.deadlineNanos();
    }

    /** Returns whether no further piece is to be started. */
    final boolean isStopped() {
        return failure != null || error != null || expired || isCancelled();
    }

    /** Goes to the next piece; most transfers are one piece and never make a cursor. */
    final boolean nextPiece() {
        if (planned) {
            return cursor != null && (cursor.next() || nextApart());
        }
        planned = true;
        Limits limits = nativeFile(0).limits();
        if (transfer.pairs() == 1 && transfer.length() <= limits.pieceBytes() && fitsAsItIs(limits)) {
            return transfer.length() > 0;
        }
        cursor = new PieceCursor(transfer, this, Bounces.SLOT_BYTES);
        return cursor.next();
    }

    private boolean fitsAsItIs(Limits limits) {
        if (!limits.isBlockGranular()) {
            return true;
        }
        return transfer.target() instanceof BufferRegion region
                && ((transfer.fileOffset(0) | region.length()) & (limits.fileAlignment() - 1)) == 0
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
        return ((EngineFile) file).nativeFile(routeIndex).limits();
    }

    @Override
    public final long address(Target target) {
        return target instanceof BufferRegion region ? EngineBuffer.address(region) : 0;
    }

    @Override
    public final long slack(StorageFile file, Target target) {
        return EngineBuffer.slack(((EngineFile) file).nativeFile(routeIndex), (BufferRegion) target);
    }

    /** Says in {@code flight} what the current piece is. */
    final void fillPiece(Flight flight) {
        flight.begin(this);
        flight.kind = transfer.isRead() ? Command.Kind.READ : Command.Kind.WRITE;
        PieceCursor piece = cursor;
        flight.pair = piece == null ? 0 : piece.pair();
        flight.pairCount = piece == null ? 1 : piece.pairCount();
        flight.file = nativeFile(flight.pair);
        flight.memory = memory(flight.pair);
        if (piece == null) {
            flight.fileOffset = transfer.fileOffset(0);
            flight.memoryOffset = transfer.target(0) instanceof BufferRegion region ? region.offset() : 0;
            flight.bytes = transfer.length();
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
        return file(pair).nativeFile(routeIndex);
    }

    private DeviceMemory memory(int pair) {
        EngineBuffer buffer = buffer(pair);
        return buffer != null ? buffer.memory() : Objects.requireNonNull(Objects.requireNonNull(images)[pair]);
    }

    /** Returns the file of a pair; without allocating for a gather. */
    final EngineFile file(int pair) {
        return (EngineFile) transfer.fileRegion(transfer.isGather() ? 0 : pair).file();
    }

    /** Returns the buffer of a pair, null where that is an image; without allocating for a gather. */
    final @Nullable EngineBuffer buffer(int pair) {
        Target target = transfer.isGather() ? transfer.target() : transfer.target(pair);
        return target instanceof BufferRegion region ? (EngineBuffer) region.buffer() : null;
    }

    /**
     * Counts what a piece moved.
     *
     * @return whether there are pieces to start again: a packed one fell short, and only its pairs, one by one, tell
     *     which of them
     */
    final boolean pieceEnded(Flight flight) {
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
        bytes += flight.moved;
        if (flight.moved < flight.bytes) {
            long skip = flight.packed ? 0 : flight.fileOffset - transfer.fileOffset(flight.pair);
            reached().fellShort(flight.pair, skip, flight.bytes, flight.moved);
        }
        return false;
    }

    private Reach reached() {
        Reach made = reach;
        if (made == null) {
            made = new Reach(transfer);
            reach = made;
        }
        return made;
    }

    /** What was never started was not moved either. */
    private void giveUpTheRest() {
        while (nextPiece()) {
            PieceCursor piece = Objects.requireNonNull(cursor); // without one there is a single piece, and it was first
            boolean packed = piece.kind() == PieceCursor.Kind.PACKED;
            long skip = packed ? 0 : piece.fileOffset() - transfer.fileOffset(piece.pair());
            reached().fellShort(piece.pair(), skip, piece.bytes(), 0);
        }
    }

    /** Ends it: nothing of it is in native hands any more. Frees what it held and signals. */
    final void finish(long nanos) {
        endedNanos = nanos;
        if (!transfer.isRead() || failure != null || error != null || expired) {
            conclude();
        }
        if (port instanceof EngineBackend backend) {
            backend.intake().left(this);
        }
        if (STATE.compareAndSet(this, OPEN, ENDED)) {
            signal(lane);
        } else {
            STATE.setVolatile(this, LET_GO); // it was cancelled, and what it held is free now
            unmarkBusy(); // pairs with cancel()
        }
    }

    /** Calls {@link #ended}, which may run a subscriber's code (direct delivery): what that throws is not the lane's end. */
    private void signal(@Nullable Lane turning) {
        try {
            if (turning == null) {
                ended();
            } else {
                ended(turning);
            }
        } catch (Throwable e) {
            Exceptions.throwIfJvmFatal(e);
            Operators.onErrorDropped(e, Context.empty());
        }
    }

    private void conclude() {
        if (planned && isStopped() && !isCancelled()) {
            giveUpTheRest();
        }
        if (error == null && failure != null) {
            error = Failures.of(this, failure);
        } else if (error == null && expired) {
            error = Failures.expired(this);
        } else if (error == null && reach != null && !isCancelled()) {
            error = Failures.movedNothing(transfer);
        }
    }

    /** Ends it before it began; any thread. */
    final void refuse(Throwable cause) {
        error = cause;
        endedNanos = System.nanoTime();
        if (STATE.compareAndSet(this, OPEN, ENDED)) {
            signal(null);
        }
    }

    /** Signals that its outcome is unknown, and leaves everything pinned: the device may still write (rule 601). */
    final void abandon(PenstockException why) {
        if (STATE.compareAndSet(this, OPEN, CANCELLED)) {
            error = why;
            signal(null);
        }
    }

    final void started(long nanos) {
        if (startedNanos == 0) {
            startedNanos = nanos;
        }
    }

    final void fail(NativeFailure cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    final void fail(Throwable cause) {
        if (error == null) {
            error = cause;
        }
    }

    /** Returns why it failed, or null. */
    final @Nullable Throwable error() {
        return error;
    }

    /** Returns the result as a value. */
    final Completion completion() {
        return new Finished(this);
    }

    /** Returns the failure as a value. */
    final FailedCompletion failedCompletion() {
        Throwable cause = error;
        if (cause == null) {
            throw new IllegalStateException(transfer + " did not fail");
        }
        return new Failed(this, cause);
    }

    /** Returns the bytes moved, without those beyond a gap. */
    final long bytes() {
        return reach == null ? bytes : reach.bytes();
    }

    /** Returns whether any byte was moved, wherever it is. */
    final boolean hasMoved() {
        return bytes > 0;
    }

    /** Returns how far each pair came; null where all that was started came to its end. */
    final @Nullable Reach reach() {
        return reach;
    }

    final long subscribedNanos() {
        return subscribedNanos;
    }

    final long startedNanos() {
        return startedNanos;
    }

    final long endedNanos() {
        return endedNanos;
    }
}
