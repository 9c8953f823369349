// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --backend}, a mixin of all subcommands that move data. */
public final class BackendChoice {

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            description = "host, cufile, opencl-ssg, gl, dx11, or gpu for the best real GPU; else the"
                    + " value of PENSTOCK_BACKEND, else host.")
    private @Nullable String name;

    /** Opens the chosen backend. */
    public Backend open() {
        return open(Options.none());
    }

    /** Opens the chosen backend with options. */
    public Backend open(Options options) {
        return name == null ? Backends.open(options) : Backends.open(name, options);
    }

    /** Returns the name of the backend. */
    public String name() {
        if (name != null) {
            return name.toLowerCase(Locale.ROOT);
        }
        String configured = System.getProperty("penstock.backend", System.getenv("PENSTOCK_BACKEND"));
        return configured == null || configured.isBlank()
                ? "host"
                : configured.strip().toLowerCase(Locale.ROOT);
    }
}
