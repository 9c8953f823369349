// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ffi;

/** How long threads sleep that have asked for a few microseconds. */
public final class Naps {

    private Naps() {}

    /**
     * Has naps of the calling thread last as long as it asks for. Linux may add 50 us to each, and does: one of 5 us takes some
     * 75, and without that some 20. Nothing on other systems.
     */
    public static void beExact() {
        if (Machine.isSupported() && NativeMemory.isAvailable()) {
            LibC.setTimerSlack(1);
        }
    }
}
