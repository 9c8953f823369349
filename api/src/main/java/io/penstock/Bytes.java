// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Locale;

/** Formats and parses numbers of bytes: {@code 8MiB}, {@code 4096}. */
final class Bytes {

    private static final String UNITS = "KMGT";

    private Bytes() {}

    static long parse(String text) {
        String number = text.toUpperCase(Locale.ROOT);
        if (number.endsWith("IB")) {
            number = number.substring(0, number.length() - 2);
        } else if (number.endsWith("B")) {
            number = number.substring(0, number.length() - 1);
        }
        int unit = number.isEmpty() ? -1 : UNITS.indexOf(number.charAt(number.length() - 1));
        if (unit >= 0) {
            number = number.substring(0, number.length() - 1);
        }
        return Math.multiplyExact(Long.parseLong(number.strip()), 1L << (10 * (unit + 1)));
    }

    static String format(long bytes) {
        int unit = 0;
        long number = bytes;
        while (unit < UNITS.length() && number != 0 && number % 1024 == 0) {
            number /= 1024;
            unit++;
        }
        return unit == 0 ? Long.toString(number) : number + "" + UNITS.charAt(unit - 1) + "iB";
    }
}
