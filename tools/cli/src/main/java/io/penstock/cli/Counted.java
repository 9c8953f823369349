// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

/** Numbers of things in words. */
final class Counted {

    private Counted() {}

    /** Returns {@code 1 array}, or {@code 2 arrays}. */
    static String of(long count, String thing) {
        return count + " " + thing + (count == 1 ? "" : "s");
    }
}
