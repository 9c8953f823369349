// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

/**
 * Runs a pump for as long as a thread has nothing else to do, and sleeps while there is nothing for the pump either.
 *
 * <p><b>Threading:</b> the thread that may call the device.
 */
public final class ExecutorLoop {

    /** How often copies are looked at before the thread starts to sleep between looks. */
    private static final int SPINS = 64;

    private static final long FIRST_SLEEP_NANOS = 2_500;
    private static final int DOUBLINGS = 4; // to 40 us

    private final ExecutorPump pump;
    private final Doorbell bell;
    private int looks; // since anything was done
    private long idleSince;

    /**
     * Makes one.
     *
     * @param bell rung by the pump's hook, and by callers that want this thread to check for work
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
        if (looks == 0) {
            idleSince = System.nanoTime();
        }
        looks = Math.min(looks + 1, SPINS + DOUBLINGS); // and no more, or it would begin again some day
        if (looks <= SPINS || System.nanoTime() - idleSince < pump.spinNanos()) {
            Thread.onSpinWait();
        } else if (pump.rest()) {
            // Copies run, and nothing else is to do: new work rings, their end is seen a little late.
            bell.await(FIRST_SLEEP_NANOS << (looks - SPINS));
        }
    }
}
