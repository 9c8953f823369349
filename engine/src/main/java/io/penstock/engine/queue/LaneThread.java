// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.spi.ffi.TimerSlack;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.NonBlocking;

/** The thread of one lane. Non-blocking to Reactor, so that {@code block()} on it throws instead of hanging. */
public final class LaneThread extends Thread implements NonBlocking {

    private static final Logger LOG = LoggerFactory.getLogger(LaneThread.class);

    private final Lane lane;
    private final LaneThreads group;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> idle = new CompletableFuture<>();
    private boolean awaitsIdle; // this thread only

    LaneThread(Lane lane, LaneThreads group, String name) {
        super(null, null, name, 0, false); // inherits no thread locals of the thread that opened the backend
        this.lane = lane;
        this.group = group;
        setDaemon(true);
        setContextClassLoader(null); // keeps no application's class loader alive
    }

    Lane lane() {
        return lane;
    }

    LaneThreads group() {
        return group;
    }

    @Override
    public void run() {
        TimerSlack.minimize();
        lane.runHere();
        try {
            while (!lane.isStopped()) {
                lane.turn(true);
                if (awaitsIdle && lane.isIdle()) {
                    idle.complete(null);
                }
            }
            lane.close();
        } catch (Throwable e) {
            // A bug of the engine's or of a driver's. What is in flight stays pinned: the device may still use it.
            LOG.error("{} broke; its transfers are given up, and their memory is not freed", getName(), e);
            lane.breakDown(e);
        } finally {
            ended.complete(null);
            idle.complete(null);
        }
    }

    /** Completes when nothing is in flight; the lane keeps running. Any thread. */
    CompletableFuture<Void> whenIdle() {
        lane.post(() -> {
            awaitsIdle = true;
            if (lane.isIdle()) {
                idle.complete(null); // at once: the turn under way may wait for long
            }
        });
        return idle;
    }

    /** Ends the thread once nothing is in flight; any thread. */
    CompletableFuture<Void> stopWhenIdle() {
        lane.stop();
        return ended;
    }
}
