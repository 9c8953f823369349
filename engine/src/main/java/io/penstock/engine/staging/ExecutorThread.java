// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

/** A thread of ours that is the executor of a device, for ever; sleeps while there is nothing to do. */
public final class ExecutorThread implements AutoCloseable {

    /** How often copies are looked at before the thread starts to sleep between looks. */
    private static final int SPINS = 64;

    private static final long FIRST_SLEEP_NANOS = 5_000;
    private static final long LONGEST_SLEEP_NANOS = 80_000;
    private static final long JOIN_MILLIS = 5_000;

    private final Doorbell bell = new Doorbell();
    private final ExecutorPump pump = new ExecutorPump(bell::ring);
    private final Thread thread;

    private ExecutorThread(String name) {
        thread = new Thread(this::loop, name);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
    }

    /** Starts one. */
    public static ExecutorThread start(String name) {
        ExecutorThread executor = new ExecutorThread(name);
        executor.thread.start();
        return executor;
    }

    /** Returns what queues work is handed to; nobody else may run it. */
    public ExecutorPump pump() {
        return pump;
    }

    private void loop() {
        int looks = 0;
        while (true) {
            boolean last = pump.isClosed(); // asked before the run, which does what was handed in before close()
            long before = pump.progress();
            boolean more = pump.run(Long.MAX_VALUE);
            if (!more && last) {
                return;
            } else if (!more) {
                looks = 0;
                if (!pump.isClosed()) { // pairs with close(), which rings if the pump is at rest
                    bell.await(-1);
                }
            } else if (pump.progress() != before) {
                looks = 0;
            } else if (++looks <= SPINS) {
                Thread.onSpinWait();
            } else if (pump.rest()) {
                // Copies run, and nothing else is to do: new work rings, their end is seen a little late.
                bell.await(Math.min(LONGEST_SLEEP_NANOS, FIRST_SLEEP_NANOS << Math.min(looks - SPINS, 8)));
            }
        }
    }

    /** Ends the thread when everything handed to it is done; waits for that, up to a bound. Not on the thread itself. */
    @Override
    public void close() {
        pump.close();
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
