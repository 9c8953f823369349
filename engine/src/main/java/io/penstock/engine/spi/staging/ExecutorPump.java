// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The executor of a device that takes calls from one thread only: whichever thread is in {@link #run} is it. A render
 * loop runs it once per frame, {@link ExecutorThread} for ever. One pump serves all queues of a device, and other calls
 * to it by {@link #execute}.
 */
public final class ExecutorPump implements Executor, AutoCloseable {

    private final Runnable hook;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Piece> inbox = new ConcurrentLinkedQueue<>(); // may hold stale entries
    private final AtomicBoolean asleep = new AtomicBoolean(true);
    private final ReentrantLock running = new ReentrantLock();
    private final List<Piece> copying = new ArrayList<>(); // guarded by running, as are the next two
    private final List<BooleanSupplier> watched = new ArrayList<>();
    private long progress;
    private volatile boolean closed;
    private volatile long spinNanos; // written under this

    /**
     * Makes a pump.
     *
     * @param hook called when there is work after {@link #run} had answered that there is none; on the thread that
     *     submitted the work, so it must return at once and not call {@link #run}
     */
    public ExecutorPump(Runnable hook) {
        this.hook = hook;
    }

    /**
     * Makes device calls until there is none to make at the moment, or the time is up. Never waits for the device.
     *
     * <p><b>Threading:</b> the thread that may call the device, one at a time.
     *
     * @param budgetNanos when to stop starting calls; at least one is made if there is one
     * @return whether there is more to do, copies that run and what is watched included: call again soon. If not, the
     *     hook will be called
     * @throws IllegalStateException if a thread is in here already
     */
    public boolean run(long budgetNanos) {
        if (running.isHeldByCurrentThread() || !running.tryLock()) {
            throw new IllegalStateException("this executor is running already");
        }
        try {
            asleep.set(false);
            long start = System.nanoTime();
            boolean busy = true;
            while (busy) {
                long before = progress;
                startNext();
                settle();
                busy = progress != before && System.nanoTime() - start < budgetNanos;
            }
            return !copying.isEmpty() || !watched.isEmpty() || !rest();
        } finally {
            running.unlock();
        }
    }

    /**
     * Runs a task on the executor's thread, before copies that were not started yet. What it throws goes to that
     * thread's handler of uncaught exceptions.
     *
     * @throws RejectedExecutionException if the pump is closed
     */
    @Override
    public void execute(Runnable task) {
        tasks.offer(task);
        // Pairs with close(): the runner looks once more after that, so a task that was in before is run.
        if (closed && tasks.remove(task)) {
            throw new RejectedExecutionException("this executor is closed");
        }
        rouse();
    }

    /**
     * Has {@code ended} asked in each run until it answers true, as a copy is that runs: for fences of the device's.
     *
     * @throws RejectedExecutionException if the pump is closed
     */
    public void watch(BooleanSupplier ended) {
        execute(() -> watched.add(ended));
    }

    /** Refuses tasks from now on; the queues that it served are closed. Who runs it does so once more. */
    @Override
    public void close() {
        closed = true;
        rouse();
    }

    /** Returns whether {@link #close} has been called. */
    public boolean isClosed() {
        return closed;
    }

    void submit(Piece piece) {
        inbox.offer(piece);
        rouse();
    }

    /** Forgets a piece that was taken back while it waited. */
    void forget(Piece piece) {
        inbox.remove(piece);
    }

    /** Arranges for the hook to be called at the next work; returns false if there is some already. */
    public boolean rest() {
        asleep.set(true);
        // Pairs with rouse(): one of the two sees the other. Who wins the flag back calls, or goes on.
        return (inbox.isEmpty() && tasks.isEmpty()) || !asleep.compareAndSet(true, false);
    }

    /** Has copies, and what is watched, looked at for so long without a pause; the longest that anybody wants counts. */
    public synchronized void spinFor(long nanos) {
        spinNanos = Math.max(spinNanos, nanos);
    }

    /** Returns how long copies are to be looked at without a pause. */
    long spinNanos() {
        return spinNanos;
    }

    /** Returns a number that changes with everything that is done; for the thread that runs this. */
    public long progress() {
        return progress;
    }

    private void rouse() {
        if (asleep.get() && asleep.compareAndSet(true, false)) {
            hook.run();
        }
    }

    /** Starts everything that is there now, or one task: a task may take long. */
    private void startNext() {
        Runnable task = tasks.poll();
        if (task != null) {
            progress++;
            run(task);
            return;
        }
        int most = 16; // then look at the clock and at the copies
        for (Piece piece = inbox.poll(); piece != null; piece = inbox.poll()) {
            if (piece.takeFrom(Piece.AWAITS_EXECUTOR)) {
                start(piece);
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

    private static boolean hasEnded(BooleanSupplier look) {
        try {
            return look.getAsBoolean();
        } catch (RuntimeException | Error e) {
            handle(e);
            return true;
        }
    }

    private static void handle(Throwable e) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }

    private void start(Piece piece) {
        progress++;
        StagedQueue queue = piece.queue;
        if (queue.dropped(piece)) {
            return;
        }
        if (queue.copies.start(piece)) {
            copying.add(piece);
        } else {
            queue.end(piece, piece.failure);
        }
    }

    /**
     * Looks at copies last first, then at fences, and goes on in the order in which the copies were started: so none seems
     * to have ended before one, or before a fence, that it waited for on the device.
     */
    private void settle() {
        for (int i = copying.size() - 1; i >= 0; i--) {
            Piece piece = copying.get(i);
            piece.queue.copies.poll(piece);
        }
        if (!watched.isEmpty()) {
            look();
        }
        int kept = 0;
        for (int i = 0; i < copying.size(); i++) {
            Piece piece = copying.get(i);
            if (piece.hasCopyEnded()) {
                progress++;
                ended(piece);
            } else {
                copying.set(kept++, piece);
            }
        }
        copying.subList(kept, copying.size()).clear();
    }

    private void look() {
        for (int i = watched.size() - 1; i >= 0; i--) {
            if (hasEnded(watched.get(i))) {
                progress++;
                watched.remove(i);
            }
        }
    }

    private static void ended(Piece piece) {
        StagedQueue queue = piece.queue;
        if (queue.stepped(piece, piece.moved) && !queue.dropped(piece)) {
            queue.hand(piece);
        }
    }
}
