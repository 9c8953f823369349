// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

/** Decides on the lane whether a transfer may start its first native request. */
final class Gate {

    private Gate() {}

    /** Returns whether it may start; if not, {@link Lane#proceed} is called when what holds it back has ended. */
    static boolean isOpen(Lane lane, OpenTransfer open) {
        Admission terms = open.admission();
        if (terms != null && !terms.isMet(lane, open)) {
            return false;
        }
        if (BusyRegions.ALL.isEmpty()) {
            return true;
        }
        // Rule 205: what a cancelled transfer may still write, or read, is waited for.
        Extents extents = Extents.of(open.transfer(), Identity.OF);
        return !BusyRegions.ALL.waitsBehind(extents, () -> lane.post(() -> lane.proceed(open)));
    }
}
