// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.kit.Pause;
import io.penstock.engine.resource.Owner;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/**
 * Runs an operator's turns one at a time, where signals are delivered; producers announce arrivals with {@link
 * #signal}.
 *
 * <p><b>Threading:</b> {@link #signal} and {@link #signalHere} on any thread, I/O queues included; neither blocks.
 * State used only in {@link #turn} needs no further ordering.
 */
public abstract class DeliveryLoop implements Runnable {

    private static final AtomicIntegerFieldUpdater<DeliveryLoop> SIGNALS =
            AtomicIntegerFieldUpdater.newUpdater(DeliveryLoop.class, "signals");

    private final Scheduler.@Nullable Worker worker;

    // Arrivals not yet processed. 0 -> 1 makes the signaller responsible for the turns, so at most one task is
    // scheduled at a time, however many completions an I/O queue reaps; every other increment requests one more turn.
    @SuppressWarnings("unused") // through SIGNALS
    private volatile int signals;

    private boolean isOver; // turns only

    /** Creates a loop that runs on {@code worker}, or, if null, on the threads that signal. */
    public DeliveryLoop(Scheduler.@Nullable Worker worker) {
        this.worker = worker;
    }

    /**
     * Subscribes {@code actual} with the worker that the operator's turns run on; null for the signalling thread. A
     * scheduler that rejects the worker is signalled as an error.
     *
     * @param most the most arrivals that can come before a turn: where there are many, those that come while a thread
     *     wakes are a batch, which costs less than a turn for each
     */
    public static void subscribe(
            Owner owner,
            boolean direct,
            int most,
            CoreSubscriber<?> actual,
            Consumer<Scheduler.@Nullable Worker> subscribe) {
        Scheduler.Worker worker;
        try {
            Scheduler scheduler = most <= Pause.FEW ? owner.scheduler() : owner.batchScheduler();
            worker = direct || owner.isDirectDelivery() ? null : scheduler.createWorker();
        } catch (RejectedExecutionException e) {
            Operators.error(actual, Operators.onRejectedExecution(e, actual.currentContext()));
            return;
        }
        subscribe.accept(worker);
    }

    /** Processes what has arrived; never called concurrently. */
    protected abstract void turn();

    /** Records that the worker rejected a turn, before it runs on the signalling thread. */
    protected abstract void rejected(RejectedExecutionException cause);

    /** Records that {@code cause} was thrown out of a turn, by a subscriber that must not throw. */
    protected abstract void crashed(Throwable cause);

    /** Requests a turn. */
    public final void signal() {
        signal(null);
    }

    /**
     * Requests a turn.
     *
     * @param elsewhere where it runs if it would run on the calling thread, within the caller
     */
    protected final void signal(@Nullable Scheduler elsewhere) {
        if (SIGNALS.getAndIncrement(this) != 0) {
            return;
        }
        // From here to the end of run() this thread owns the loop, isOver included: it was written before signals
        // became 0.
        if (isOver || worker == null && elsewhere == null) {
            run();
            return;
        }
        try {
            if (worker != null) {
                worker.schedule(this);
            } else {
                Objects.requireNonNull(elsewhere).schedule(this);
            }
        } catch (RejectedExecutionException e) {
            rejected(e);
            run();
        }
    }

    /** Adds it to those that are signalled later, once for arrivals that follow one another. */
    final void addTo(List<DeliveryLoop> later) {
        if (later.isEmpty() || later.get(later.size() - 1) != this) {
            later.add(this);
        }
    }

    /** Signals loops, also those that are added meanwhile, and removes them. */
    static void signalAll(List<DeliveryLoop> later) {
        for (int i = 0; i < later.size(); i++) {
            later.get(i).signal();
        }
        later.clear();
    }

    /** Requests a turn, on the calling thread if none is running or pending. */
    public final void signalHere() {
        if (SIGNALS.getAndIncrement(this) == 0) {
            run();
        }
    }

    /** Disposes of the worker, in a turn; later turns, which call no user code, run on the threads that signal. */
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
            } catch (Throwable e) { // also what Reactor counts as fatal: the signalling thread may be an I/O queue's
                crashed(e);
            }
            missed = SIGNALS.addAndGet(this, -missed);
        } while (missed != 0);
    }
}
