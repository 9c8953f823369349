// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.WriteBarrier;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.resource.Identity;
import io.penstock.engine.spi.IoPath;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A transfer from subscription to the completion of its last native request: how it may end, and what it holds until
 * then. Operators subclass it as it subclasses its other parts, so that a transfer costs one object: {@link
 * CarriedTransfer} is its progress and outcome, {@link PlannedTransfer} its segments.
 *
 * <p><b>Threading:</b> {@link #open} and {@link #cancel} on any thread; everything else on the I/O queue that carries
 * it.
 */
public abstract class OpenTransfer extends PlannedTransfer {

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
    private final @Nullable Watch watch;

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    // Set by admit(), before the I/O queue gets the transfer. Volatile because cancel() reads the I/O queue after it
    // has changed the state, and the I/O queue reads the state after it has received the transfer: one of the two sees
    // the other.
    private volatile @Nullable IoQueue ioQueue;
    private @Nullable Admission admission;
    private WriteBarrier.Epoch @Nullable [] epochs; // of a write, one per pair, or one for a single file

    // Set once, by the first cancel; read by the I/O queue after its compare-and-set of the state has failed.
    private volatile BusyRegions.@Nullable AbandonedTransfer abandoned;

    // I/O queue only.
    int inFlight;
    boolean exhausted;
    boolean finished;

    public OpenTransfer(Port port, Transfer transfer) {
        super(transfer);
        this.port = port;
        this.watch = Watch.of(port, transfer);
    }

    /** Called when every native request has ended; on the I/O queue, once, and not if {@link #cancel} came first. */
    protected abstract void ended();

    /** As {@link #ended}, in a turn of {@code ioQueue}, in which several transfers may end. */
    public void ended(IoQueue ioQueue) {
        ended();
    }

    /** Opens the transfer in the engine. Does not throw, block, or call {@link #ended} itself. */
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
        if (found == OPEN && carrier != null) {
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
        BusyRegions.AbandonedTransfer mark = abandoned;
        if (mark == null) {
            BusyRegions.AbandonedTransfer made = new BusyRegions.AbandonedTransfer(Extents.of(transfer(), Identity.OF));
            // Stored before it is added: the I/O queue removes what it finds here. One object, however many threads
            // cancel.
            BusyRegions.AbandonedTransfer first =
                    (BusyRegions.AbandonedTransfer) BUSY.compareAndExchange(this, null, made);
            mark = first == null ? made : first;
        }
        BusyRegions.ALL.add(mark);
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
        goBy(ioPath, pathIndex);
        this.ioQueue = ioQueue;
    }

    /** Returns true if it has an I/O queue; a refused transfer has none. */
    public final boolean isAdmitted() {
        return ioQueue != null;
    }

    final Port port() {
        return port;
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
        WriteBarrier.Epoch[] accepted = new WriteBarrier.Epoch[transfer().pairs()];
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

    @Override
    final boolean isStopped() {
        return hasFailed() || isCancelled();
    }

    /** Ends it when no native request of it is in flight: frees what it held and signals. */
    public final void finish(long nanos) {
        endedAt(nanos);
        if (!transfer().isRead() || hasFailed()) {
            conclude();
        }
        port.left(this);
        if (STATE.compareAndSet(this, OPEN, ENDED)) {
            signal(ioQueue);
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
        if (isStopped() && !isCancelled()) {
            abandonRest();
        }
        settle(isCancelled());
    }

    /** Fails it before it has started; any thread. */
    public final void refuse(Throwable cause) {
        failWith(cause);
        endedAt(System.nanoTime());
        if (STATE.compareAndSet(this, OPEN, ENDED)) {
            signal(null);
        }
    }

    /**
     * Fails it where no native request of it is in flight and none will be started: releases what it holds, and
     * signals. On its I/O queue, or on any thread if that never took it.
     */
    final void drop(PenstockException why) {
        failWith(why);
        ioQueue = null; // refused: a fence that is not placed yet never will be, and no turn reports its end
        finish(System.nanoTime());
    }

    /** Signals that its outcome is unknown, and leaves everything pinned: the device may still write (rule 601). */
    final void abandon(PenstockException why) {
        if (STATE.compareAndSet(this, OPEN, ABANDONED)) {
            failWith(why);
            loseWrite(why);
            signal(null);
        } else if (STATE.compareAndSet(this, CANCELLED, ABANDONED)) {
            loseWrite(why); // no subscriber is left but a sync that covers it
        }
    }
}
