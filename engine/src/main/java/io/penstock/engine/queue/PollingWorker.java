// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.spi.Shared;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.NonBlocking;
import reactor.util.context.Context;

/**
 * A thread that polls for its next task before it sleeps, so that tasks that follow one another soon need no wake-up.
 * It takes a task only while it polls; others run elsewhere. A task that takes long therefore delays no other.
 *
 * <p>It has no queue, and never occupies a thread of Reactor's, on which tasks of the application may wait.
 *
 * <p><b>Threading:</b> {@link #offer} on any thread; neither it nor a poll blocks or makes a system call, except to
 * wake a sleeping worker.
 */
final class PollingWorker extends Thread implements NonBlocking {

    private static final Shared<Long, PollingWorker> SHARED = new Shared<>(PollingWorker::end);
    private static final VarHandle NEXT;

    static {
        try {
            NEXT = MethodHandles.lookup().findVarHandle(PollingWorker.class, "next", Runnable.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** What {@link #next} is when it is no task. */
    private enum State implements Runnable {
        POLLING,
        SLEEPING,
        BUSY,
        ENDED;

        @Override
        public void run() {
            throw new AssertionError(this);
        }
    }

    private final long pollNanos;

    // An offer: POLLING -> the task, or SLEEPING -> POLLING. This thread: the task -> BUSY -> POLLING, and POLLING ->
    // SLEEPING if nothing was offered. Where two threads may do so, by compare-and-set. What a thread does before it
    // offers a task happens-before the task, which next publishes.
    private volatile Runnable next = State.BUSY;
    private volatile boolean ending;

    // When it slept during the last offer. Racy: a lost write delays the next wake-up by one offer.
    private long missed;

    /** Creates a worker that sleeps after it has polled for {@code pollNanos} in vain; for tests. */
    PollingWorker(long pollNanos) {
        super(null, null, "parallel-polling", 0, false); // inherits no thread locals of the one that opens a backend
        this.pollNanos = pollNanos;
        this.missed = System.nanoTime() - pollNanos;
        setDaemon(true);
    }

    /** Acquires the worker of the process that polls for so long; starts it if there is none. */
    static PollingWorker acquire(long pollNanos) {
        return SHARED.open(pollNanos, () -> {
            PollingWorker worker = new PollingWorker(pollNanos);
            try {
                worker.start();
            } catch (OutOfMemoryError e) { // "unable to create native thread"
                worker.end(); // it is busy for good, so that every task runs elsewhere
            }
            return worker;
        });
    }

    /** Releases it; ends it when its use count reaches 0. */
    void release() {
        SHARED.leave(this);
    }

    /** Ends the thread once its task has returned; offers are then refused. */
    void end() {
        ending = true;
        if (NEXT.compareAndSet(this, State.SLEEPING, State.POLLING)) {
            LockSupport.unpark(this);
        }
    }

    /**
     * Runs a task at once if the worker polls. Otherwise returns false; and if the last such offer was as recent as the
     * worker would have polled, wakes it for the next one.
     */
    boolean offer(Runnable task) {
        Runnable found = next;
        if (found == State.POLLING) {
            return NEXT.compareAndSet(this, State.POLLING, task);
        }
        if (found == State.SLEEPING) {
            long now = System.nanoTime();
            boolean soon = now - missed < pollNanos;
            missed = now;
            if (soon && NEXT.compareAndSet(this, State.SLEEPING, State.POLLING)) {
                LockSupport.unpark(this);
            }
        }
        return false;
    }

    @Override
    public void run() {
        boolean more;
        do {
            more = runNext();
        } while (more);
    }

    /** A method of its own, so that nothing refers to a task while the next one is awaited. */
    private boolean runNext() {
        Runnable task = await();
        if (task == State.ENDED) {
            return false;
        }
        try {
            task.run();
        } catch (Throwable e) { // also what Reactor counts as fatal, whose threads live on, too
            Operators.onErrorDropped(e, Context.empty());
        }
        return true;
    }

    /** Returns the next task; {@link State#ENDED} if there is none. */
    private Runnable await() {
        next = State.POLLING;
        long since = System.nanoTime();
        while (next == State.POLLING) { // not by onSpinWait: BlockHound takes it for a call that blocks
            if (ending) {
                NEXT.compareAndSet(this, State.POLLING, State.ENDED);
            } else if (System.nanoTime() - since >= pollNanos
                    && NEXT.compareAndSet(this, State.POLLING, State.SLEEPING)) {
                sleepUntilWoken();
                since = System.nanoTime();
            }
        }
        Runnable task = next;
        if (task != State.ENDED) {
            next = State.BUSY;
        }
        return task;
    }

    private void sleepUntilWoken() {
        if (ending) { // set before end() looks for SLEEPING: one of the two sees the other
            NEXT.compareAndSet(this, State.SLEEPING, State.POLLING);
        }
        while (next == State.SLEEPING) {
            LockSupport.park(this);
        }
    }
}
