// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.NonBlocking;

/**
 * A stack of its own for code that blocks: exactly one of the resumer and the coroutine runs at any time, so that
 * threads bring no chance of their own.
 */
final class Coroutine {

    private static final ExecutorService THREADS = Executors.newCachedThreadPool(QueueStack::new);

    /** As a I/O thread, it must not block: what may is done elsewhere, and ends later. */
    private static final class QueueStack extends Thread implements NonBlocking {
        QueueStack(Runnable body) {
            super(body, "simulated-thread");
            setDaemon(true);
        }
    }

    /** Ends a coroutine whose simulation is over. */
    static final class Abandoned extends Error {
        private static final long serialVersionUID = 1;

        Abandoned() {
            super("the simulation is over", null, false, false);
        }
    }

    private final Runnable body;
    private volatile boolean running; // the baton
    private volatile boolean started;
    private volatile boolean over;
    private volatile boolean abandoned;
    private volatile @Nullable Thread own;
    private volatile @Nullable Thread resumer;
    private volatile @Nullable Throwable failure;

    Coroutine(Runnable body) {
        this.body = body;
    }

    boolean isOver() {
        return over;
    }

    /** Returns what the body threw, or null. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Runs it until it suspends or ends. */
    void resume() {
        resumer = Thread.currentThread();
        running = true;
        if (started) {
            LockSupport.unpark(own);
        } else {
            started = true;
            THREADS.execute(this::run);
        }
        while (running) {
            LockSupport.park(this);
        }
    }

    /** Gives the baton back until it is resumed; on the coroutine itself. */
    void suspend() {
        Thread next = resumer;
        running = false;
        LockSupport.unpark(next);
        while (!running) {
            LockSupport.park(this);
        }
        if (abandoned) {
            throw new Abandoned();
        }
    }

    /** Unwinds its stack. */
    void abandon() {
        abandoned = true;
        if (started && !over) {
            resume();
        }
    }

    private void run() {
        own = Thread.currentThread();
        try {
            body.run();
        } catch (Abandoned end) {
            // as wanted
        } catch (Throwable e) {
            failure = e;
        }
        over = true;
        Thread next = resumer;
        running = false;
        LockSupport.unpark(next);
    }
}
