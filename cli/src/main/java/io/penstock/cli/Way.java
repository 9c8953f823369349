// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backends;
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
 * A way that bytes are to take: a path that completions name, or what a backend's own option {@code penstock.NAME.path}
 * takes, or both.
 *
 * @param options what to open the backend with, so that it goes that way
 * @param path the path that transfers must name; null where the name is the backend's alone
 */
record Way(Options options, @Nullable TransferPath path) {

    /** Whichever the backend takes. */
    static final Way ANY = new Way(Options.none(), null);

    /**
     * Understands the name of a way.
     *
     * @param backend the name of the backend that is to go that way
     * @throws IllegalArgumentException if nobody knows such a way; it names those that there are
     */
    static Way of(String name, String backend) {
        TransferPath path = Stream.of(TransferPath.values())
                .filter(known -> Option.show(known).equals(name.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElse(null);
        Options options = Options.none();
        boolean chosen = false;
        List<String> known = new ArrayList<>(
                Arrays.stream(TransferPath.values()).map(Option::show).toList());
        String family = backend.replaceFirst("-.*", ""); // opencl-ssg's options are those of opencl
        for (Option<?> option : Backends.options()) {
            boolean asked = option.name().equals("penstock." + family + ".path")
                    || (backend.equals("gpu") && option.name().matches("penstock\\.[^.]+\\.path"));
            if (asked) {
                known.add("for " + option.name() + ": " + option.range());
                if (takes(option, name)) {
                    options = options.with(option.name(), name);
                    chosen = true;
                }
            }
        }
        if (path == null && !chosen) {
            throw new IllegalArgumentException("there is no path '" + name + "' for backend " + backend + "; it takes "
                    + String.join(", ", known));
        }
        return new Way(options, path);
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
