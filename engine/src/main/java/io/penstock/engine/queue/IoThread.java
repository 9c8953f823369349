// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.TimerSlack;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.NonBlocking;

/**
 * The thread of one I/O queue. Marked non-blocking for Reactor, so that {@code block()} on it throws instead of
 * hanging.
 */
public final class IoThread extends Thread implements NonBlocking {

    private static final Logger LOG = LoggerFactory.getLogger(IoThread.class);

    private final IoQueue ioQueue;
    private final IoThreads group;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> idle = new CompletableFuture<>();
    private final PollWindow arrivals; // this thread only
    private boolean awaitsIdle; // this thread only
    private volatile boolean broken; // written by this thread

    /** Creates a thread, which polls for arrivals as long as {@code arrivals} permits. */
    IoThread(IoQueue ioQueue, IoThreads group, String name, PollWindow arrivals) {
        super(null, null, name, 0, false); // inherits no thread locals of the thread that opened the backend
        this.ioQueue = ioQueue;
        this.group = group;
        this.arrivals = arrivals;
        setDaemon(true);
        setContextClassLoader(null); // keeps no application's class loader alive
    }

    /**
     * Returns the time; on an I/O thread, the time of its turn: reading the clock would cost as much as a tenth of the
     * I/O queue's work for a small transfer.
     */
    public static long nanos() {
        return Thread.currentThread() instanceof IoThread thread ? thread.ioQueue.now() : System.nanoTime();
    }

    IoQueue ioQueue() {
        return ioQueue;
    }

    /** Returns whether a bug has ended it, so that its I/O queue refuses all transfers; any thread. */
    boolean isBroken() {
        return broken;
    }

    IoThreads group() {
        return group;
    }

    @Override
    public void run() {
        ioQueue.runHere();
        try {
            TimerSlack.minimize();
            while (!ioQueue.isStopped()) {
                turn();
                if (awaitsIdle && ioQueue.isIdle()) {
                    idle.complete(null);
                }
            }
            ioQueue.close();
        } catch (Throwable e) {
            // A bug in the engine or a driver. What is in flight stays pinned: the device may still use it.
            LOG.error("{} failed; its transfers are abandoned, and their memory is not freed", getName(), e);
            broken = true; // first: a caller whose transfer is refused must get another queue next
            ioQueue.breakDown(e);
        } finally {
            ended.complete(null);
            idle.complete(null);
        }
    }

    private void turn() {
        boolean idle = ioQueue.isIdle(); // read before the arrivals: one that comes in between ends no poll with a wait
        if (!arrivals.isEnabled()) {
            ioQueue.turn(true);
        } else if (ioQueue.hasArrivals()) {
            ioQueue.turn(false); // before it waits, this thread polls
        } else if (idle) {
            awaitArrival();
        } else {
            ioQueue.turn(true);
        }
    }

    private void awaitArrival() {
        long start = System.nanoTime();
        if (ioQueue.lastArrivals() > Pause.FEW || !polled(start)) {
            ioQueue.turn(true);
            if (ioQueue.hasArrivals()) { // which have woken it
                arrivals.waited(System.nanoTime() - start);
            }
        }
    }

    /** Polls for arrivals for as long as has paid off lately; returns true if there are any. */
    private boolean polled(long start) {
        boolean any = ioQueue.hasArrivals();
        while (!any && System.nanoTime() - start < arrivals.nanos()) {
            any = ioQueue.hasArrivals();
        }
        return any;
    }

    /** Completes when nothing is in flight; the I/O queue keeps running. Any thread. */
    CompletableFuture<Void> whenIdle() {
        ioQueue.post(() -> {
            awaitsIdle = true;
            if (ioQueue.isIdle()) {
                idle.complete(null); // at once: the current turn may wait for a long time
            }
        });
        return idle;
    }

    /** Ends the thread once nothing is in flight; any thread. */
    CompletableFuture<Void> stopWhenIdle() {
        ioQueue.stop();
        return ended;
    }

    /** Ends the thread of an unused I/O queue, or closes the queue if the thread has not started. */
    void discard() {
        if (isAlive()) {
            ioQueue.stop();
        } else {
            ioQueue.close();
        }
    }
}
