// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.engine.testing.BackendFixture;
import java.nio.file.Path;

/** Backends on the fakes, files of known content, and the ends of all of them. */
final class GpuFixture extends BackendFixture {

    GpuFixture(Path folder) {
        super(folder);
    }

    static Options options(CufilePath path) {
        return Options.none()
                .with(CufileOptions.LIBCUDA, Fakes.libcuda().toString())
                .with(CufileOptions.LIBCUFILE, Fakes.libcufile().toString())
                .with(CufileOptions.PATH, path);
    }

    Backend backend(CufilePath path) {
        return backend(options(path));
    }

    Backend backend(Options options) {
        return keep(new CufileProvider().open(options.resolve(Backends.options())));
    }

    StorageFile immutable(Backend backend, Path path) {
        return open(backend, path, FileOption.READ, FileOption.IMMUTABLE);
    }

    /**
     * Returns how often a file's mapping was to be registered; staging buffers are, too, and live as long as their
     * backend.
     */
    static long registrations() {
        return Fakes.cuda().calls("cuMemHostRegister") - Fakes.cuda().live("host_buffers");
    }
}
