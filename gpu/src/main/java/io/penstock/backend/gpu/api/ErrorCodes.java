// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.api;

import java.util.HashMap;
import java.util.Map;

/**
 * A vendor's error codes, and how to handle them; a local table, so that names are available without a library. Written
 * as {@code 5008=IO_NOT_SUPPORTED}, behind which {@code ~} marks what the vendor recommends to retry later, {@code >}
 * what another path may support, {@code !} the end of the driver, and {@code *} what batches alone refuse.
 */
public final class ErrorCodes {

    /** Whether a request may succeed if it is repeated or takes another path. */
    public enum Meaning {
        /** The vendor recommends to retry later. */
        TRANSIENT,
        /** The request cannot work. */
        PERMANENT,
        /** The file API does not support this for the file, file system or machine; another path may. */
        FALL_OVER,
        /** The driver is shutting down. */
        LOST
    }

    private record Code(String name, String marks) {}

    private static final Code UNKNOWN = new Code("", "");

    private final Map<Integer, Code> codes = new HashMap<>();

    /**
     * Reads a table.
     *
     * @param prefix of all names that do not start with {@code ^}
     */
    public ErrorCodes(String prefix, String table) {
        for (String entry : table.strip().split("\\s+")) {
            String[] parts = entry.split("=");
            String name = parts[1].replaceAll("[~>!*]", "");
            String full = name.startsWith("^") ? name.substring(1) : prefix + name;
            codes.put(Integer.valueOf(parts[0]), new Code(full, parts[1].substring(name.length())));
        }
    }

    private Code of(int code) {
        return codes.getOrDefault(code, UNKNOWN);
    }

    String symbol(int code) {
        return of(code).name;
    }

    Meaning meaning(int code) {
        String marks = of(code).marks;
        if (marks.contains("~")) {
            return Meaning.TRANSIENT;
        }
        if (marks.contains(">")) {
            return Meaning.FALL_OVER;
        }
        return marks.contains("!") ? Meaning.LOST : Meaning.PERMANENT;
    }

    boolean isOfBatchAlone(int code) {
        return of(code).marks.contains("*");
    }
}
