// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that all commands share which move data. */
final class BackendChoice {

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            description = "host, cufile, opencl-ssg, gl, dx11, or gpu for the best real GPU; else what"
                    + " PENSTOCK_BACKEND says, else host.")
    private @Nullable String name;

    Backend open() {
        return open(Options.none());
    }

    /** Opens it with options of a command's. */
    Backend open(Options options) {
        return name == null ? Backends.open(options) : Backends.open(name, options);
    }

    /** Returns the name that it will be looked for by. */
    String name() {
        if (name != null) {
            return name.toLowerCase(Locale.ROOT);
        }
        String said = System.getProperty("penstock.backend", System.getenv("PENSTOCK_BACKEND"));
        return said == null || said.isBlank() ? "host" : said.strip().toLowerCase(Locale.ROOT);
    }
}
