// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.staging;

import io.penstock.engine.kit.InFlight;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The executor of a device that accepts calls from one thread only: the thread that is in {@link #run}. A render loop
 * runs it once per frame, {@link ExecutorThread} in a loop. One pump serves all queues of a device, and other calls to
 * the device through {@link #execute}.
 */
public final class ExecutorPump implements Executor, AutoCloseable {

    /** A request of a staging queue whose copy this thread makes; each method is called within {@link #run}. */
    public interface Work {

        /** Takes the request, unless it no longer waits to be copied. */
        boolean take();

        /** Starts the copy; returns false if none has begun, and the request has ended. */
        boolean start();

        /** Looks for the end of the copy; returns whether it has ended. */
        boolean poll();

        /** Returns whether the device's copies end in the order in which they were started. */
        boolean endsInOrder();

        /** Goes on behind the copy. */
        void proceed();
    }

    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Work> inbox = new ConcurrentLinkedQueue<>(); // may hold stale entries
    private final Wakeup wakeup; // waiting between two runs if the first has found nothing to do
    private final ReentrantLock running = new ReentrantLock();
    // The next three are guarded by running.
    private final InFlight<Work> copying = new InFlight<>(Work::poll, Work::proceed);
    private final List<BooleanSupplier> watched = new ArrayList<>();
    private long progress;
    private volatile boolean closed;
    private volatile long spinNanos; // written under this

    /**
     * Creates a pump.
     *
     * @param hook called when work is submitted after {@link #run} has returned false; on the submitting thread, so it
     *     must return at once and not call {@link #run}
     */
    public ExecutorPump(Runnable hook) {
        this.wakeup = new Wakeup(hook);
        wakeup.announce();
    }

    /**
     * Makes device calls until there are none to make, or the time is up. Never waits for the device.
     *
     * <p><b>Threading:</b> the thread that may call the device, one at a time.
     *
     * @param budgetNanos when to stop starting calls; at least one is made if there is one
     * @return whether there is more to do, including copies in flight and watched fences: call again soon. If not, the
     *     hook will be called
     * @throws IllegalStateException if a thread is already in this method
     */
    public boolean run(long budgetNanos) {
        if (running.isHeldByCurrentThread() || !running.tryLock()) {
            throw new IllegalStateException("this executor is already running");
        }
        try {
            wakeup.end();
            long start = System.nanoTime();
            boolean busy = true;
            while (busy) {
                long before = progress;
                startNext();
                settle();
                busy = progress != before && System.nanoTime() - start < budgetNanos;
            }
            return !copying.isEmpty() || !watched.isEmpty() || !announceWait();
        } finally {
            running.unlock();
        }
    }

    /**
     * Runs a task on the executor's thread, before copies that were not started yet. An exception goes to that thread's
     * handler of uncaught exceptions.
     *
     * @throws RejectedExecutionException if the pump is closed
     */
    @Override
    public void execute(Runnable task) {
        tasks.offer(task);
        // Pairs with close(): the runner checks once more after that, so a task that was queued before is run.
        if (closed && tasks.remove(task)) {
            throw new RejectedExecutionException("this executor is closed");
        }
        wakeup.rouse();
    }

    /**
     * Makes a call on the executor's thread, and waits for its result. Not on that thread.
     *
     * @param request the text for messages
     * @param remedy the remedy in the message if the thread does not come to it, or an empty string
     * @throws io.penstock.TransientStorageException if the thread does not begin with it within 10 seconds, or before
     *     the caller is interrupted: it is then not made
     * @throws RejectedExecutionException if the pump is closed
     * @throws RuntimeException the exception of the call
     */
    public <T> T call(String request, String remedy, Supplier<T> call) {
        ExecutorCall<T> made = new ExecutorCall<>(call);
        execute(made);
        return made.await(request, remedy);
    }

    /**
     * Polls {@code ended} in each run until it returns true, like a copy in flight: for fences of the device.
     *
     * @throws RejectedExecutionException if the pump is closed
     */
    public void watch(BooleanSupplier ended) {
        execute(() -> watched.add(ended));
    }

    /** Refuses tasks from now on; the queues that it served are closed. The running thread runs it once more. */
    @Override
    public void close() {
        closed = true;
        wakeup.rouse();
    }

    /** Returns whether {@link #close} has been called. */
    public boolean isClosed() {
        return closed;
    }

    /** Queues a request, which is then copied unless it is {@linkplain Work#take taken} back first. */
    public void submit(Work work) {
        inbox.offer(work);
        wakeup.rouse();
    }

    /** Removes a request that was cancelled while it waited. */
    public void remove(Work work) {
        inbox.remove(work);
    }

    /** Arranges for the hook to be called at the next work; returns false if there is work already. */
    public boolean announceWait() {
        while (!wakeup.announce()) {
            wakeup.end(); // roused since the last run, or already announced
        }
        return (inbox.isEmpty() && tasks.isEmpty()) || wakeup.end(); // roused meanwhile: the hook is called
    }

    /** Sets how long copies and watched fences are polled without a pause; the longest request counts. */
    public synchronized void spinFor(long nanos) {
        spinNanos = Math.max(spinNanos, nanos);
    }

    /** Returns how long to poll copies without a pause. */
    public long spinNanos() {
        return spinNanos;
    }

    /** Returns a number that changes with every step; for the thread that runs this. */
    public long progress() {
        return progress;
    }

    /** Starts all queued copies, or one task: a task may take long. */
    private void startNext() {
        Runnable task = tasks.poll();
        if (task != null) {
            progress++;
            run(task);
            return;
        }
        int most = 16; // then check the clock and poll the copies
        for (Work work = inbox.poll(); work != null; work = inbox.poll()) {
            if (work.take()) {
                start(work);
                if (--most == 0) {
                    return;
                }
            }
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            handle(e);
        }
    }

    private static boolean hasEnded(BooleanSupplier poll) {
        try {
            return poll.getAsBoolean();
        } catch (RuntimeException | Error e) {
            handle(e);
            return true;
        }
    }

    private static void handle(Throwable e) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }

    private void start(Work work) {
        progress++;
        if (work.start()) {
            copying.add(work);
        }
    }

    /**
     * Polls copies, then fences, and then continues: so no copy seems to have ended before a fence that it waited for on
     * the device, nor before a copy.
     */
    private void settle() {
        Work oldest = copying.first();
        copying.look(oldest != null && oldest.endsInOrder());
        if (!watched.isEmpty()) {
            pollFences();
        }
        if (copying.complete()) {
            progress++;
        }
    }

    private void pollFences() {
        for (int i = watched.size() - 1; i >= 0; i--) {
            if (hasEnded(watched.get(i))) {
                progress++;
                watched.remove(i);
            }
        }
    }
}
