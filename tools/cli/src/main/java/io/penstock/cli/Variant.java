// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backends;
import io.penstock.Explanation;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.TransferPath;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A requested path: a path that completions name, a value of a backend's own option {@code penstock.NAME.path}, or
 * both.
 *
 * @param options the options that make the backend use that path
 * @param path the path that transfers must report; null if the name is only a value of the backend's option
 */
record Variant(Options options, @Nullable TransferPath path) {

    /** Any path of the backend. */
    static final Variant ANY = new Variant(Options.none(), null);

    /**
     * Parses the name of a path.
     *
     * @param backend the name of the backend that must use the path
     * @throws IllegalArgumentException if there is no such path; the message lists the known ones
     */
    static Variant of(String name, String backend) {
        TransferPath path = Stream.of(TransferPath.values())
                .filter(known -> Option.show(known).equals(name.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElse(null);
        Options options = Options.none();
        boolean chosen = false;
        List<String> known = new ArrayList<>(
                Arrays.stream(TransferPath.values()).map(Option::show).toList());
        for (Option<?> option : Backends.options()) {
            boolean isPath = option.name().equals(BackendChoice.pathOption(backend))
                    || (backend.equals("gpu") && option.name().matches("penstock\\.[^.]+\\.path"));
            if (isPath) {
                known.add("for " + option.name() + ": " + option.range());
                if (takes(option, name)) {
                    options = options.with(option.name(), name);
                    chosen = true;
                }
            }
        }
        if (path == null && !chosen) {
            throw new IllegalArgumentException("there is no path '" + name + "' for backend " + backend
                    + "; it accepts " + String.join(", ", known));
        }
        return new Variant(options, path);
    }

    /** Returns why a transfer would not be direct, behind a separator, and what would help; may be empty. */
    static String why(String separator, Explanation plan) {
        return (plan.whyNotDirect().isEmpty() ? "" : separator + plan.whyNotDirect())
                + (plan.remedy().isEmpty() ? "" : " (remedy: " + plan.remedy() + ")");
    }

    private static boolean takes(Option<?> option, String name) {
        try {
            option.parse(name, "--path");
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
