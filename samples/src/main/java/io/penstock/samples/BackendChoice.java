// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
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
        return name == null ? Backends.open() : Backends.open(name);
    }
}
