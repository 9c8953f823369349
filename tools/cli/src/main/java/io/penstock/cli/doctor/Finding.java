// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.doctor;

/**
 * What a check found.
 *
 * @param level how good it is
 * @param what what was found
 * @param why why it matters; may be empty if nothing is wrong
 * @param remedy what to do about it; empty if nothing is to be done
 * @param page where the documentation explains it, a path with an anchor
 */
public record Finding(Level level, String what, String why, String remedy, String page) {

    /** How good what was found is. */
    public enum Level {
        /** As it should be. */
        OK,
        /** A fact, which may matter to some uses. */
        NOTE,
        /** Costs speed, or makes a path impossible. */
        WARNING
    }

    private static final String PAGE = "docs/doctor.md#";

    /** Returns what is as it should be. */
    public static Finding ok(String topic, String what) {
        return new Finding(Level.OK, what, "", "", PAGE + topic);
    }

    /** Returns a fact. */
    public static Finding note(String topic, String what, String why, String remedy) {
        return new Finding(Level.NOTE, what, why, remedy, PAGE + topic);
    }

    static Finding warning(String topic, String what, String why, String remedy) {
        return new Finding(Level.WARNING, what, why, remedy, PAGE + topic);
    }
}
