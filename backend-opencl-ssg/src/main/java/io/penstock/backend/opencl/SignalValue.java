// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/**
 * The values of a marker, which are 32 bits wide and rise: whoever waits for one has what was written before it, and so a
 * value that does not rise says nothing. There is no way on behind the last.
 */
final class SignalValue {

    static final long LAST = 0xFFFF_FFFFL;

    private SignalValue() {}

    /** Goes on if a marker can have a value that somebody wrote. */
    static void check(long value) {
        if (value < 1 || value > LAST) {
            throw new IllegalArgumentException("signal value must be from 1 to " + LAST + ", was " + value);
        }
    }

    /** Goes on if a value may be written behind another. */
    static void checkRises(long value, long before) {
        check(value);
        if (value <= before) {
            throw new IllegalArgumentException("signal values must rise: " + value + " after " + before);
        }
    }
}
