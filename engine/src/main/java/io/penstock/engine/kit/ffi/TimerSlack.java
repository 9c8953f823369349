// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

/** The timer slack of threads: by how much the kernel may prolong a sleep. */
public final class TimerSlack {

    private TimerSlack() {}

    /**
     * Sets the timer slack of the calling thread to its minimum, so that sleeps of microseconds take about as long as
     * requested. The default of Linux is 50 us: with it a sleep of 5 us takes some 75 us, with the minimum some 20 us.
     * Does nothing on other systems.
     *
     * <p>Source: {@code PR_SET_TIMERSLACK} in prctl(2).
     */
    public static void minimize() {
        if (Machine.isSupported() && NativeMemory.isAvailable()) {
            LibC.setTimerSlack(1);
        }
    }
}
