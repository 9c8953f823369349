// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.Locale;

/** Numbers of things in words. */
final class Counted {

    private Counted() {}

    /** Returns {@code 1 array}, or {@code 2 arrays}. */
    static String of(long count, String thing) {
        return count + " " + thing + (count == 1 ? "" : "s");
    }

    /** Returns {@code 512 bytes}, or {@code 3145728 bytes (3.0 MiB)}. */
    static String bytes(long count) {
        double mebibytes = (double) count / (1 << 20);
        String exact = of(count, "byte");
        if (mebibytes < 1) {
            return exact;
        }
        return mebibytes < 1024
                ? String.format(Locale.ROOT, "%s (%.1f MiB)", exact, mebibytes)
                : String.format(Locale.ROOT, "%s (%.1f GiB)", exact, mebibytes / 1024);
    }
}
