// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.PenstockException;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.WriteBarrier;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.plan.Reach;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Identity;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A transfer from subscription to the completion of its last native request: how it may end, its segments, and what it
 * holds until then.
 *
 * <p>Operators subclass it, and most transfers have none of its parts, so that a transfer costs one object. The parts
 * are its start conditions and deadline ({@link Admission}), its {@link SegmentPlan} if it is more than one segment, and
 * its {@link Shortfall} if it does not move all its bytes.
 *
 * <p><b>Threading:</b> {@link #open} and {@link #cancel} on any thread; everything else on the I/O queue that carries
 * it. Fields that are set before the handover to the I/O queue are visible to it.
 */
public abstract class OpenTransfer {

    // OPEN -> CANCELLED by the subscriber, OPEN -> ENDED by the I/O queue: one compare-and-set decides which came
    // first, and with it whether ended() is called (rule 101). The I/O queue counts native completions in every state;
    // CANCELLED -> RELEASED when it has counted the last one, and likewise from ABANDONED, which was signalled before.
    private static final int OPEN = 0;
    private static final int CANCELLED = 1;
    private static final int ENDED = 2;
    private static final int RELEASED = 3;
    private static final int ABANDONED = 4;
    private static final VarHandle STATE;
    private static final VarHandle BUSY;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(OpenTransfer.class, "state", int.class);
            BUSY = lookup.findVarHandle(OpenTransfer.class, "abandoned", BusyRegions.AbandonedTransfer.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Port port;
    private final Transfer transfer;
    private final TransferListeners.@Nullable Watch watch;
    final long subscribedNanos;

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    // Set by admit(), before the I/O queue gets the transfer. Volatile because cancel() reads the I/O queue after it
    // has changed the state, and the I/O queue reads the state after it has received the transfer: one of the two sees
    // the other.
    private volatile @Nullable IoQueue ioQueue;
    // Whether it may be a CachedRead. Set before its I/O queue, and false again before the I/O queue gets it: a
    // cancel that finds it true leaves the end to the opening thread. If the I/O queue gets it nevertheless, it finds
    // the state that the cancel has changed before.
    volatile boolean here;
    private @Nullable IoPath ioPath;
    int pathIndex;

    @Nullable
    Object lane; // of its files: of the first that has one

    @Nullable
    TargetImages images; // null for most

    private @Nullable Admission admission;
    private WriteBarrier.Epoch @Nullable [] epochs; // of a write, one per pair

    // Set once, by the first cancel; read by the I/O queue after its compare-and-set of the state has failed.
    private volatile BusyRegions.@Nullable AbandonedTransfer abandoned;

    // I/O queue only.
    int inFlight;
    boolean exhausted;
    boolean finished;
    private boolean planned;

    @Nullable
    SegmentPlan plan; // null if it is one segment as it is

    long startedNanos; // 0 until it has started
    long endedNanos;
    long moved; // bytes, at any position
    private @Nullable Shortfall shortfall;

    public OpenTransfer(Port port, Transfer transfer) {
        this.port = port;
        this.transfer = transfer;
        this.subscribedNanos = port.nanos();
        this.watch = port.listeners().watch(port.name(), transfer);
    }

    public final Transfer transfer() {
        return transfer;
    }

    /** Called when every native request has ended; on the I/O queue, once, and not if {@link #cancel} came first. */
    protected abstract void ended();

    /** As {@link #ended}, in a turn of {@code ioQueue}, in which several transfers may end. */
    public void ended(IoQueue ioQueue) {
        ended();
    }

    /** Returns whether {@link #open} may call {@link #ended}, of a {@link CachedRead}. Asked once, while it opens. */
    protected boolean mayEndHere() {
        return false;
    }

    /** Opens it in the engine. Does not throw or block, nor call {@link #ended} unless it {@link #mayEndHere}. */
    public final void open() {
        port.open(this);
    }

    /** Cancels the transfer on the device and drops the result; any thread, any number of times. */
    public void cancel() {
        int found = (int) STATE.compareAndExchange(this, OPEN, CANCELLED);
        if (found != OPEN && found != CANCELLED) {
            return;
        }
        // Each of several cancels marks: a transfer that subscribes after any of them has returned finds the region
        // busy (rule 205). Only after the state is CANCELLED: a transfer that is admitted after this read of its I/O
        // queue never starts.
        markBusy();
        // Pairs with finish(): mark, then check whether the device has released it; there: set RELEASED, then check for
        // the mark.
        if ((int) STATE.getVolatile(this) == RELEASED) {
            unmarkBusy();
        }
        IoQueue carrier = ioQueue;
        if (found == OPEN && carrier != null && !here) {
            carrier.post(() -> carrier.stop(this));
        }
        if (found == OPEN && watch != null) {
            watch.cancelled();
        }
    }

    private void markBusy() {
        if (ioQueue == null) {
            return; // the device never got it
        }
        // Stored before it is added: the I/O queue removes what it finds here. One object, however many threads cancel.
        BUSY.compareAndSet(this, null, new BusyRegions.AbandonedTransfer(Extents.of(transfer, Identity.OF)));
        BusyRegions.ALL.add(Objects.requireNonNull(abandoned));
    }

    private void unmarkBusy() {
        BusyRegions.AbandonedTransfer mark = abandoned;
        if (mark != null) {
            BusyRegions.ALL.remove(mark);
        }
    }

    public final boolean isCancelled() {
        int seen = (int) STATE.getVolatile(this);
        return seen != OPEN && seen != ENDED;
    }

    /** Returns its fence point in the device's stream; null if no fence of it is handed out. */
    @Nullable
    public FenceOrder order() {
        return null;
    }

    /** Returns true if its arguments were checked when its publisher was created; {@link Port#open} checks others. */
    public boolean isChecked() {
        return false;
    }

    /** Called on the I/O queue when other work may wait on the fence behind it. */
    void placed() {}

    /** Sets its path and I/O queue, before the I/O queue gets it; no I/O queue if it is refused. */
    public final void admit(IoPath ioPath, int pathIndex, @Nullable IoQueue ioQueue) {
        this.ioPath = ioPath;
        this.pathIndex = pathIndex;
        int files = ioQueue == null ? 0 : transfer.isGather() ? 1 : transfer.pairs();
        for (int pair = 0; pair < files && lane == null; pair++) {
            lane = nativeFile(pair).lane();
        }
        here = ioQueue != null
                && lane == null
                && admission == null
                && isShort(ioPath.mostCachedBytes())
                && mayEndHere();
        this.ioQueue = ioQueue;
    }

    private boolean isShort(long most) {
        return most > 0
                && transfer.isRead()
                && !transfer.isGather()
                && transfer.pairs() == 1
                && transfer.target() instanceof BufferRegion
                && transfer.length() <= most
                && transfer.length() > 0;
    }

    /** Returns true if it has an I/O queue; a refused transfer has none. */
    public final boolean isAdmitted() {
        return ioQueue != null;
    }

    protected final Port port() {
        return port;
    }

    /** Returns the path that carries it. */
    final IoPath ioPath() {
        return Objects.requireNonNull(ioPath);
    }

    /** Returns its start conditions; null for most. */
    public final @Nullable Admission admission() {
        return admission;
    }

    public final void admission(Admission terms) {
        this.admission = terms;
    }

    /** Counts it in the barriers of its files, so that a later sync covers it. */
    public final void acceptWrite() {
        WriteBarrier.Epoch[] accepted = new WriteBarrier.Epoch[transfer.pairs()];
        for (int pair = 0; pair < accepted.length; pair++) {
            accepted[pair] = file(pair).barrier().accept();
        }
        epochs = accepted;
    }

    /** Notifies the barriers that it has ended. */
    public final void endWrite() {
        WriteBarrier.Epoch[] accepted = epochs;
        epochs = null; // if it was abandoned, they have been notified
        for (int pair = 0; accepted != null && pair < accepted.length; pair++) {
            file(pair).barrier().ended(accepted[pair]);
        }
    }

    /** Fails the syncs that cover it, instead of letting them wait for a completion that may never come. */
    private void loseWrite(PenstockException why) {
        WriteBarrier.Epoch[] accepted = epochs;
        for (int pair = 0; accepted != null && pair < accepted.length; pair++) {
            file(pair).barrier().fail(why);
        }
        endWrite();
    }

    /** Returns its deadline in the time base of {@link System#nanoTime()}. */
    final long deadlineNanos() {
        Admission terms = admission;
        return terms == null ? Long.MAX_VALUE : terms.deadlineNanos();
    }

    // Its segments.

    /** Returns the file of a pair; without allocating for a gather. */
    public final EngineFile file(int pair) {
        return (EngineFile) transfer.fileRegion(transfer.isGather() ? 0 : pair).file();
    }

    /** Returns the buffer of a pair, null if its target is an image; without allocating for a gather. */
    public final @Nullable EngineBuffer buffer(int pair) {
        Target target = transfer.isGather() ? transfer.target() : transfer.target(pair);
        return target instanceof BufferRegion region ? (EngineBuffer) region.buffer() : null;
    }

    final DeviceMemory memory(int pair) {
        EngineBuffer buffer = buffer(pair);
        return buffer != null ? buffer.memory() : Objects.requireNonNull(images).memory(pair);
    }

    NativeFile nativeFile(int pair) {
        return file(pair).nativeFile(pathIndex);
    }

    /** Cuts it into at least so many segments that are read at the same time, if it may be and is worth it. */
    final void divide(int parts) {
        if (!planned && images == null && SegmentPlan.isWorthDividing(transfer) && file(0).async() == null) {
            plan = SegmentPlan.divided(transfer, pathIndex, parts);
        }
    }

    /** Moves to the next segment; most transfers are one segment and never have a plan. */
    final boolean nextSegment() {
        if (planned) {
            return plan != null && plan.next();
        }
        planned = true;
        if (plan == null) {
            if (SegmentPlan.isOneAsItIs(transfer, nativeFile(0).limits())) {
                return transfer.length() > 0;
            }
            plan = new SegmentPlan(transfer, pathIndex);
        }
        return plan.next();
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
                Objects.requireNonNull(plan).startApart(segment);
                return true;
            }
            segment.moved = 0;
        }
        moved += segment.moved;
        if (segment.moved < segment.bytes) {
            long skip = segment.packed ? 0 : segment.fileOffset - transfer.fileOffset(segment.pair);
            shortfall().fellShort(segment.pair, skip, segment.bytes, segment.moved);
        }
        return false;
    }

    // Progress and result.

    final void started(long nanos) {
        if (startedNanos == 0) {
            startedNanos = nanos;
        }
    }

    /** Returns its shortfall, which it has from now on. */
    final Shortfall shortfall() {
        if (shortfall == null) {
            shortfall = new Shortfall(transfer);
        }
        return shortfall;
    }

    public final void fail(NativeFailure cause) {
        shortfall().fail(cause);
    }

    public final void fail(Throwable cause) {
        shortfall().fail(cause);
    }

    /** Returns true if a failure prevents the rest of it. */
    private boolean hasFailed() {
        return shortfall != null && shortfall.isFailure();
    }

    /** Returns true if no further segment may be started. */
    final boolean isStopped() {
        return hasFailed() || isCancelled();
    }

    /** Returns why it failed, or null. */
    public final @Nullable Throwable error() {
        return shortfall == null ? null : shortfall.error();
    }

    /** Returns the result as a value. */
    public final Completion completion() {
        return new Finished(this);
    }

    /** Returns the failure as a value. */
    public final FailedCompletion failedCompletion() {
        return new Finished.Failed(this);
    }

    /** Returns the bytes moved, without those beyond a gap. */
    final long bytes() {
        Reach reach = reach();
        return reach == null ? moved : reach.bytes();
    }

    /** Returns the progress of each pair; null if every segment that was started moved all its bytes. */
    final @Nullable Reach reach() {
        return shortfall == null ? null : shortfall.reach();
    }

    // Its end.

    /** Ends it when no native request of it is in flight: frees what it held and signals. */
    public final void finish(long nanos) {
        finish(nanos, ioQueue);
    }

    /** As above; {@code turning} is null outside a turn of its I/O queue. */
    final void finish(long nanos, @Nullable IoQueue turning) {
        endedNanos = nanos;
        if (!transfer.isRead() || hasFailed()) {
            conclude();
        }
        port.left(this);
        if (STATE.compareAndSet(this, OPEN, ENDED)) {
            signal(turning);
        } else {
            STATE.setVolatile(this, RELEASED); // it was cancelled, and what it held is freed
            unmarkBusy(); // pairs with cancel()
        }
    }

    /**
     * Calls {@link #ended}, which may run a subscriber's code (direct delivery): an exception from it does not stop the
     * I/O queue.
     */
    private void signal(@Nullable IoQueue turning) {
        try {
            if (watch != null) {
                watch.ended(error() == null ? completion() : failedCompletion());
            }
            if (turning == null) {
                ended();
            } else {
                ended(turning);
            }
        } catch (Throwable e) { // also what Reactor counts as fatal: it is not the I/O queue's
            Operators.onErrorDropped(e, Context.empty());
        }
    }

    private void conclude() {
        boolean cancelled = isCancelled();
        if (hasFailed() && !cancelled) {
            abandonRest();
        }
        settle(cancelled);
    }

    /** Records that segments that were never started moved nothing. */
    final void abandonRest() {
        if (planned && plan != null) {
            plan.abandonRest(shortfall());
        }
    }

    /** Converts the failure into the error of its completion. */
    final void settle(boolean cancelled) {
        if (shortfall != null) {
            shortfall.settle(cancelled, startedNanos != 0, moved);
        }
    }

    /** Fails it before it has started; any thread. */
    public final void refuse(Throwable cause) {
        shortfall().failWith(cause);
        endedNanos = System.nanoTime();
        if (STATE.compareAndSet(this, OPEN, ENDED)) {
            signal(null);
        }
    }

    /**
     * Fails it where no native request of it is in flight and none will be started: releases what it holds, and
     * signals. On its I/O queue, or on any thread if that never took it.
     */
    final void drop(PenstockException why) {
        port.ending(why);
        shortfall().failWith(why);
        ioQueue = null; // refused: a fence that is not placed yet never will be, and no turn reports its end
        finish(System.nanoTime());
    }

    /** Signals that its outcome is unknown, and leaves everything pinned: the device may still write (rule 601). */
    final void abandon(PenstockException why) {
        port.ending(why);
        if (STATE.compareAndSet(this, OPEN, ABANDONED)) {
            shortfall().failWith(why);
            loseWrite(why);
            signal(null);
        } else if (STATE.compareAndSet(this, CANCELLED, ABANDONED)) {
            loseWrite(why); // no subscriber is left but a sync that covers it
        }
    }
}
