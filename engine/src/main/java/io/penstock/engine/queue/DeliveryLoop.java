// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * Runs an operator's turns one at a time where signals are delivered; producers announce arrivals with
 * {@link #signal}.
 *
 * <p><b>Threading:</b> {@link #signal} and {@link #signalHere} on any thread, lanes included; neither blocks. What
 * {@link #turn} touches needs no further ordering.
 */
public abstract class DeliveryLoop implements Runnable {

    private static final AtomicIntegerFieldUpdater<DeliveryLoop> SIGNALS =
            AtomicIntegerFieldUpdater.newUpdater(DeliveryLoop.class, "signals");

    private final Scheduler.@Nullable Worker worker;

    // News not yet looked at. 0 -> 1 makes the signaller responsible for the turns, so at most one task is scheduled
    // while one is pending, however many completions a lane reaps; every other increment is an order for one more turn.
    @SuppressWarnings("unused") // through SIGNALS
    private volatile int signals;

    private boolean isOver; // turns only

    /** Makes one that runs on {@code worker}, or, if there is none, on the threads that signal. */
    public DeliveryLoop(Scheduler.@Nullable Worker worker) {
        this.worker = worker;
    }

    /** Returns where an operator's turns run: null for on the signalling thread. */
    public static Scheduler.@Nullable Worker worker(Port port, boolean direct) {
        return direct || port.isDirectDelivery() ? null : port.scheduler().createWorker();
    }

    /** Looks at what there is to do and does it; never called twice at a time. */
    protected abstract void turn();

    /** Takes note that turns cannot run where they should, before one runs on the signalling thread. */
    protected abstract void rejected(RejectedExecutionException cause);

    /** Takes note that {@code cause} was thrown out of a turn, by a subscriber that must not throw. */
    protected abstract void crashed(Throwable cause);

    /** Asks for a turn. */
    public final void signal() {
        if (SIGNALS.getAndIncrement(this) != 0) {
            return;
        }
        // From here to the end of run() this loop is ours, isOver included: it was written before signals became 0.
        if (worker == null || isOver) {
            run();
            return;
        }
        try {
            worker.schedule(this);
        } catch (RejectedExecutionException e) {
            rejected(e);
            run();
        }
    }

    /** Asks for a turn, on this very thread if none is under way or pending. */
    public final void signalHere() {
        if (SIGNALS.getAndIncrement(this) == 0) {
            run();
        }
    }

    /** Gives the worker back, in a turn; later turns, which call no user code, run on the threads that signal. */
    public final void over() {
        if (!isOver) {
            isOver = true;
            if (worker != null) {
                worker.dispose();
            }
        }
    }

    @Override
    public final void run() {
        int missed = 1;
        do {
            try {
                turn();
            } catch (Throwable e) {
                Exceptions.throwIfJvmFatal(e);
                crashed(e);
            }
            missed = SIGNALS.addAndGet(this, -missed);
        } while (missed != 0);
    }
}
