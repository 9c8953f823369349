// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.staging;

import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.ffi.TimerSlack;
import io.penstock.engine.spi.Wakeup;

/** A thread that runs the executor of a device until it is closed; sleeps while there is nothing to do. */
public final class ExecutorThread implements AutoCloseable {

    private static final long JOIN_MILLIS = 5_000;

    private final Wakeup wakeup = new Wakeup();
    private final ExecutorPump pump = new ExecutorPump(wakeup::wake);
    private final DaemonThread thread;

    private ExecutorThread(String name) {
        thread = new DaemonThread(name, this::loop);
    }

    /** Starts a thread. */
    public static ExecutorThread start(String name) {
        ExecutorThread executor = new ExecutorThread(name);
        executor.thread.start();
        return executor;
    }

    /** Returns the pump that queues submit to; only this thread runs it. */
    public ExecutorPump pump() {
        return pump;
    }

    private void loop() {
        TimerSlack.minimize();
        ExecutorLoop loop = new ExecutorLoop(pump, wakeup);
        boolean last;
        do {
            last = pump.isClosed(); // read before the turn, which does what was submitted before close()
        } while (loop.turn() || !last);
    }

    /** Ends the thread when all submitted work is done; waits for that, up to a bound. Not on the thread itself. */
    @Override
    public void close() {
        pump.close();
        thread.awaitEnd(JOIN_MILLIS);
    }
}
