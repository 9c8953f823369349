// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.NonBlocking;
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
    private final @Nullable PollWindow window; // turns only, as is the next
    private long restsSince;

    /**
     * Creates a loop.
     *
     * @param worker runs the turns; null for the threads that signal
     * @param most the most arrivals that can come before a turn
     * @param pollNanos for how many nanoseconds at most the worker polls for signals before it sleeps
     */
    public DeliveryLoop(Scheduler.@Nullable Worker worker, int most, long pollNanos) {
        this(worker, pollNanos > 0 && worker != null && most <= PollWindow.FEW ? new PollWindow(pollNanos) : null);
    }

    /** Creates a loop with a test's window, or with none. */
    DeliveryLoop(Scheduler.@Nullable Worker worker, @Nullable PollWindow window) {
        this.worker = worker;
        this.window = window;
        this.restsSince = window == null ? 0 : System.nanoTime();
    }

    /**
     * Subscribes {@code actual} with the worker that the operator's turns run on; null for the signalling thread. A
     * scheduler that rejects the worker is signalled as an error.
     */
    public static void subscribe(
            Port port, boolean direct, CoreSubscriber<?> actual, Consumer<Scheduler.@Nullable Worker> subscribe) {
        Scheduler.Worker worker;
        try {
            worker = direct || port.isDirectDelivery() ? null : port.scheduler().createWorker();
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
        if (SIGNALS.getAndIncrement(this) != 0) {
            return;
        }
        // From here to the end of run() this thread owns the loop, isOver included: it was written before signals
        // became 0.
        if (worker == null || isOver) {
            run(false);
            return;
        }
        try {
            worker.schedule(this);
        } catch (RejectedExecutionException e) {
            rejected(e);
            run(false);
        }
    }

    /** Requests a turn, on the calling thread if none is running or pending. */
    public final void signalHere() {
        if (SIGNALS.getAndIncrement(this) == 0) {
            run(false);
        }
    }

    /** Returns true if no turn is running or pending; for tests. */
    final boolean isAtRest() {
        return signals == 0;
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

    /** Runs turns, on the worker. */
    @Override
    public final void run() {
        // Threads of other schedulers may have other work to do; so has the one on which a test or a simulation runs.
        run(Thread.currentThread() instanceof NonBlocking);
    }

    private void run(boolean polls) {
        if (window != null) {
            window.waited(System.nanoTime() - restsSince);
        }
        int missed = 1;
        do {
            try {
                turn();
            } catch (Throwable e) {
                Exceptions.throwIfJvmFatal(e);
                crashed(e);
            }
            if (polls && !isOver) {
                await(missed);
            }
            missed = SIGNALS.addAndGet(this, -missed);
        } while (missed != 0);
    }

    /** Polls for another signal, for as long as has paid off lately: another thread then needs not wake the worker. */
    private void await(int known) {
        if (window == null) {
            return;
        }
        restsSince = System.nanoTime();
        long most = window.nanos();
        boolean waits = most != 0;
        while (waits && signals == known) { // not by onSpinWait: BlockHound takes it for a call that blocks
            waits = System.nanoTime() - restsSince < most;
        }
    }
}
