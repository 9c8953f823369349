// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Options;
import java.io.IOException;
import java.nio.file.Path;

/** The data that all GL rows share: the file, the application's context, and whether there is a hardware device. */
final class GlBench implements AutoCloseable {

    private final Settings settings;
    private final Path hot;
    private final GlApplication application;
    private final boolean hardware;

    private GlBench(Settings settings, Path hot, GlApplication application) {
        this.settings = settings;
        this.hot = hot;
        this.application = application;
        try (Backend backend = application.backend(Options.none())) {
            System.out.println(backend.capabilities());
            hardware = backend.capabilities().hardware();
        }
    }

    /** Creates the file and the context, which is current on the calling thread: all rows run there. */
    static GlBench open(Settings settings) throws IOException {
        Path hot = TestFile.prepare(
                settings.directory().resolve("hot-gl"), settings.sizes().hotBytes());
        return new GlBench(settings, hot, GlApplication.start());
    }

    Path hot() {
        return hot;
    }

    long bytes() {
        return settings.sizes().hotBytes();
    }

    /** Returns the number of small reads in one run. */
    int smallReads() {
        return Math.min(500, settings.sizes().blocks());
    }

    /** Returns true if there is a hardware device; otherwise the processor runs OpenGL. */
    boolean isHardware() {
        return hardware;
    }

    GlApplication application() {
        return application;
    }

    @Override
    public void close() {
        application.close();
    }
}
