// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.staging;

import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.Wakeup;

/**
 * Runs a pump on a thread, and sleeps while the pump has no work.
 *
 * <p><b>Threading:</b> the thread that may call the device.
 */
public final class ExecutorLoop {

    private static final long LEAST_AWAKE_NANOS = 50_000;

    private final ExecutorPump pump;
    private final Wakeup wakeup;

    // Between polls of copies. A nap of a few microseconds takes tens of them, and the copies that end meanwhile occupy
    // staging
    // buffers; but where there are few processors, the device may need this one.
    private final Pause pause = new Pause()
            .spins(64)
            .gaps(1_000, Math.max(LEAST_AWAKE_NANOS, Pause.pollNanos(-1)))
            .naps(5_000, 40_000);

    /**
     * Creates a loop.
     *
     * @param wakeup woken by the pump's hook, and by callers that want this thread to check for work
     */
    public ExecutorLoop(ExecutorPump pump, Wakeup wakeup) {
        this.pump = pump;
        this.wakeup = wakeup;
    }

    /**
     * Runs the pump once, and then sleeps: until woken if there is nothing to do, briefly if only copies are in flight.
     *
     * @return whether there was more to do
     */
    public boolean turn() {
        long before = pump.progress();
        boolean more = pump.run(Long.MAX_VALUE);
        if (!more || pump.progress() != before) {
            pause.reset();
        }
        if (!more && !pump.isClosed()) { // pairs with ExecutorPump.close(), which wakes if the pump is at rest
            wakeup.await(-1);
        } else if (more && pump.progress() == before) {
            backOff();
        }
        return more;
    }

    private void backOff() {
        if (pause.isNew()) {
            pause.spinFor(pump.spinNanos());
        }
        long nap = pause.next();
        if (nap > 0 && pump.announceWait()) {
            // Only copies are in flight: new work wakes the thread, their completions are seen a little late.
            wakeup.await(nap);
        }
    }
}
