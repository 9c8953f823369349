// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.gma;

/**
 * The values of a marker: 32 bits wide and increasing. A wait for a value covers everything written before it, so a
 * value that does not increase carries no information. Values do not wrap around.
 */
final class SignalValue {

    static final long LAST = 0xFFFF_FFFFL;

    private SignalValue() {}

    /** Throws unless a marker can hold a value. */
    static void check(long value) {
        if (value < 1 || value > LAST) {
            throw new IllegalArgumentException("signal value must be from 1 to " + LAST + ", was " + value);
        }
    }

    /** Throws unless a value is higher than the value before. */
    static void checkRises(long value, long before) {
        check(value);
        if (value <= before) {
            throw new IllegalArgumentException("signal values must increase, was " + value + " after " + before);
        }
    }
}
