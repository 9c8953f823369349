// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.PenstockException;
import io.penstock.Transfer;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.order.FenceOrder;
import io.penstock.engine.order.WriteBarrier;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.resource.Identity;
import io.penstock.engine.spi.Route;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A transfer from subscription to the end of its last native request: who may end it, and what it holds until then.
 * Operators subclass it as it subclasses its other parts, so that a transfer costs one object: {@link CarriedTransfer}
 * is what comes of it, {@link PlannedTransfer} the pieces that it is cut into.
 *
 * <p><b>Threading:</b> {@link #open} and {@link #cancel} on any thread; everything else on the lane that carries it.
 */
public abstract class OpenTransfer extends PlannedTransfer {

    // OPEN -> CANCELLED by the subscriber, OPEN -> ENDED by the lane: one compare-and-set decides who was first, and
    // with it whether ended() is called (rule 101). Native ends are counted by the lane whatever the state says;
    // CANCELLED -> LET_GO when it has counted the last one, and so from ABANDONED, which was signalled before that.
    private static final int OPEN = 0;
    private static final int CANCELLED = 1;
    private static final int ENDED = 2;
    private static final int LET_GO = 3;
    private static final int ABANDONED = 4;
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

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    // Set by admit(), before the lane gets the transfer. Volatile because cancel() looks at the lane after it has
    // changed the state, as the lane looks at the state after it has got the transfer: one of the two sees the other.
    private volatile @Nullable Lane lane;
    private @Nullable Admission admission;
    private WriteBarrier.Epoch @Nullable [] epochs; // of a write, one per pair, or one for a single file

    // Set once, by the first of those who cancel; read by the lane after it has lost the state to the cancel.
    private volatile BusyRegions.@Nullable Zombie zombie;

    // Lane only.
    int inFlight;
    boolean exhausted;
    boolean finished;

    public OpenTransfer(Port port, Transfer transfer) {
        super(transfer);
        this.port = port;
    }

    /** Tells that every native request has ended; on the lane, once, and not after {@link #cancel} won. */
    protected abstract void ended();

    /** As {@link #ended}, in a turn of {@code lane}, which several may end in. */
    public void ended(Lane lane) {
        ended();
    }

    /** Joins the engine's open transfers; neither throws nor blocks nor calls {@link #ended} itself. */
    public final void open() {
        port.open(this);
    }

    /** Asks the device to stop and drops the result; any thread, any number of times. */
    public void cancel() {
        int found = (int) STATE.compareAndExchange(this, OPEN, CANCELLED);
        if (found != OPEN && found != CANCELLED) {
            return;
        }
        // Each of several cancels marks: what subscribes after any of them has returned finds the region busy (rule
        // 205).
        // Only after the state is CANCELLED: a transfer that is admitted later than this look at its lane never starts.
        markBusy();
        // Pairs with finish(): mark, then look whether the device has let go; there: say so, then look for the mark.
        if ((int) STATE.getVolatile(this) == LET_GO) {
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
            BusyRegions.Zombie made = new BusyRegions.Zombie(Extents.of(transfer(), Identity.OF));
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

    public final boolean isCancelled() {
        int seen = (int) STATE.getVolatile(this);
        return seen != OPEN && seen != ENDED;
    }

    /** Returns its place in the device's own order, where a fence of it is handed out. */
    @Nullable
    public FenceOrder order() {
        return null;
    }

    /** Hears, on the lane, that other work may wait on the fence behind it. */
    void placed() {}

    /** Sets what carries it, before the lane gets it; no lane if it is refused. */
    public final void admit(Route route, int routeIndex, @Nullable Lane lane) {
        goBy(route, routeIndex);
        this.lane = lane;
    }

    /** Returns whether a lane has it; what was refused has none. */
    public final boolean isAdmitted() {
        return lane != null;
    }

    final Port port() {
        return port;
    }

    /** Returns what it waits for before it may start; null for most. */
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

    /** Tells the barriers that it has ended. */
    public final void endWrite() {
        WriteBarrier.Epoch[] accepted = epochs;
        epochs = null; // where it was abandoned, they have been told
        for (int pair = 0; accepted != null && pair < accepted.length; pair++) {
            file(pair).barrier().ended(accepted[pair]);
        }
    }

    /** Has syncs that cover it fail, rather than wait for an end that may never come. */
    private void loseWrite(PenstockException why) {
        WriteBarrier.Epoch[] accepted = epochs;
        for (int pair = 0; accepted != null && pair < accepted.length; pair++) {
            file(pair).barrier().fail(why);
        }
        endWrite();
    }

    /** Returns when it must have ended, as {@link System#nanoTime()} counts. */
    final long deadlineNanos() {
        Admission terms = admission;
        return terms == null ? Long.MAX_VALUE : terms.deadlineNanos();
    }

    @Override
    final boolean isStopped() {
        return hasFailed() || isCancelled();
    }

    /** Ends it: nothing of it is in native hands any more. Frees what it held and signals. */
    public final void finish(long nanos) {
        endedAt(nanos);
        if (!transfer().isRead() || hasFailed()) {
            conclude();
        }
        port.left(this);
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
        if (isStopped() && !isCancelled()) {
            giveUpTheRest();
        }
        settle(isCancelled());
    }

    /** Ends it before it began; any thread. */
    public final void refuse(Throwable cause) {
        failWith(cause);
        endedAt(System.nanoTime());
        if (STATE.compareAndSet(this, OPEN, ENDED)) {
            signal(null);
        }
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
