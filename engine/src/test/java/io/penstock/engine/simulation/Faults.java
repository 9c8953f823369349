// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

/**
 * How often the kernel does what it may do: once in so many times, never if 0.
 *
 * @param refusedEnter an enter that answers EINTR or EAGAIN and takes nothing
 * @param partialSubmit an enter that takes fewer submissions than it was given
 * @param overflow a completion that goes to the kernel's own list as if the queue were full
 * @param again an operation that answers EINTR or EAGAIN
 * @param shortCount a read or write that moves fewer bytes than it could
 * @param slow an operation that takes very long
 * @param error an operation that answers EIO or ENOSPC, or ECANCELED without a cancel
 * @param call a call on a file, such as ftruncate, that fails
 * @param setup a call that makes a ring, and fails
 * @param copy a copy of a device that fails, some of it done, or loses the device
 */
record Faults(
        int refusedEnter,
        int partialSubmit,
        int overflow,
        int again,
        int shortCount,
        int slow,
        int error,
        int call,
        int setup,
        int copy) {

    static Faults of(Chance chance) {
        if (chance.oneIn(8)) {
            return new Faults(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }
        return new Faults(
                rate(chance, 12),
                rate(chance, 4),
                rate(chance, 6),
                rate(chance, 12),
                rate(chance, 3),
                rate(chance, 6),
                chance.oneIn(3) ? 15 : 0,
                chance.oneIn(4) ? 6 : 0,
                chance.oneIn(20) ? 4 : 0,
                chance.oneIn(3) ? 15 : 0);
    }

    private static int rate(Chance chance, int often) {
        return chance.oneIn(4) ? 0 : often;
    }
}
