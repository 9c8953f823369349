// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.opencl.paths.OpenClProvider;
import io.penstock.engine.testing.BackendFixture;
import java.nio.file.Path;

/** Backends on the OpenCL of this machine, files of known content, and the ends of all of them. */
final class OpenClFixture extends BackendFixture {

    OpenClFixture(Path folder) {
        super(folder);
    }

    static Options options(OpenClPath path) {
        return Options.none().with(OpenClOptions.PATH, path);
    }

    Backend backend(OpenClPath path) {
        return backend(options(path));
    }

    Backend backend(Options options) {
        return keep(new OpenClProvider().open(options.resolve(Backends.options())));
    }
}
