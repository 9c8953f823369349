// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import io.penstock.Availability;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * The requirements of a test on the machine. A test whose requirement is not met is skipped with the reason; if the
 * environment variable {@code PENSTOCK_REQUIRE} (names, comma-separated: {@code host,io_uring}) demands it, it fails.
 */
public final class Require {

    /** The environment variable that names what must run. */
    public static final String VARIABLE = "PENSTOCK_REQUIRE";

    private static final Set<String> REQUIRED = parse(System.getenv(VARIABLE));

    private Require() {}

    /**
     * Skips or fails the test unless {@code name} is available.
     *
     * @param name the backend or the facility of the system, as {@code PENSTOCK_REQUIRE} spells it
     * @param unavailable why it is not available, or null if it is
     */
    public static void backend(String name, @Nullable String unavailable) {
        check(REQUIRED, name, unavailable);
    }

    /** Skips or fails the test, with the reason, unless the backend {@code name} is available. */
    public static void backend(String name, Availability availability) {
        check(REQUIRED, name, availability.available() ? null : availability.reason());
    }

    /** Returns whether {@code PENSTOCK_REQUIRE} names {@code name}. */
    public static boolean isRequired(String name) {
        return REQUIRED.contains(name);
    }

    static void check(Set<String> required, String name, @Nullable String unavailable) {
        if (unavailable == null) {
            return;
        }
        // On one line: build tools list skips by their first line, and a compiler's reason is in the second.
        String reason = String.join(" ", List.of(unavailable.strip().split("\\s+")));
        if (required.contains(name)) {
            throw new AssertionFailedError(VARIABLE + " names " + name + ", but it cannot be used: " + reason);
        }
        throw new TestAbortedException(name + ": " + reason);
    }

    static Set<String> parse(@Nullable String names) {
        if (names == null) {
            return Set.of();
        }
        return Arrays.stream(names.split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toUnmodifiableSet());
    }
}
