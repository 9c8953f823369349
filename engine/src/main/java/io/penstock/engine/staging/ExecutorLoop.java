// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

/**
 * Runs a pump for as long as a thread has nothing else to do, and sleeps while there is nothing for the pump either.
 *
 * <p><b>Threading:</b> the thread that may call the device.
 */
public final class ExecutorLoop {

    /** How often copies are looked at before the thread starts to sleep between looks. */
    private static final int SPINS = 64;

    private static final long FIRST_SLEEP_NANOS = 5_000;
    private static final long LONGEST_SLEEP_NANOS = 80_000;

    private final ExecutorPump pump;
    private final Doorbell bell;
    private int looks;

    /**
     * Makes one.
     *
     * @param bell rung by the pump's hook, and by whoever wants this thread to look around
     */
    public ExecutorLoop(ExecutorPump pump, Doorbell bell) {
        this.pump = pump;
        this.bell = bell;
    }

    /**
     * Runs the pump once, and then sleeps: until the bell rings where there is nothing to do, and a little where only
     * copies run.
     *
     * @return whether there was more to do
     */
    public boolean turn() {
        long before = pump.progress();
        boolean more = pump.run(Long.MAX_VALUE);
        if (!more || pump.progress() != before) {
            looks = 0;
        }
        if (!more && !pump.isClosed()) { // pairs with ExecutorPump.close(), which rings if the pump is at rest
            bell.await(-1);
        } else if (more && pump.progress() == before) {
            look();
        }
        return more;
    }

    private void look() {
        if (++looks <= SPINS) {
            Thread.onSpinWait();
        } else if (pump.rest()) {
            // Copies run, and nothing else is to do: new work rings, their end is seen a little late.
            bell.await(Math.min(LONGEST_SLEEP_NANOS, FIRST_SLEEP_NANOS << Math.min(looks - SPINS, 8)));
        }
    }
}
