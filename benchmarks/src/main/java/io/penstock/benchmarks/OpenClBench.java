// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The data that all OpenCL rows share: the file, and whether there is a hardware device. */
final class OpenClBench implements AutoCloseable {

    /** The layer that fakes AMD's driver for an SSG, if built; {@code benchmarks/run} builds it. */
    static final String SSG_FAKE = "benchmarks.ssg-fake";

    private static final String LATENCY_MICROS = "1000";

    private final Settings settings;
    private final Path hot;
    private final boolean hardware;
    private @Nullable PeerProcess ssg;

    private OpenClBench(Settings settings, Path hot, boolean hardware) {
        this.settings = settings;
        this.hot = hot;
        this.hardware = hardware;
    }

    static OpenClBench open(Settings settings) throws IOException {
        Path hot = TestFile.prepare(
                settings.directory().resolve("hot-opencl"), settings.sizes().hotBytes());
        try (Backend backend = Backends.open("opencl-ssg")) {
            System.out.println(backend.capabilities());
            return new OpenClBench(settings, hot, backend.capabilities().hardware());
        }
    }

    Path hot() {
        return hot;
    }

    long bytes() {
        return settings.sizes().hotBytes();
    }

    /** Returns the number of small reads in one run. */
    int smallReads() {
        return Math.min(2000, settings.sizes().blocks());
    }

    /** Returns true if there is a hardware device; otherwise the processor runs OpenCL. */
    boolean isHardware() {
        return hardware;
    }

    /** Opens a backend for a contender, which closes it. */
    static Backend backend(Options options) {
        return Backends.open("opencl-ssg", options);
    }

    /** Returns a contender in a separate process, on the fake of AMD's driver. */
    Rounds.Factory ssg(String name, int depth, int blockBytes) {
        return () -> {
            PeerProcess process = ssg;
            if (process == null) {
                process = ssgProcess();
                ssg = process;
            }
            return new PeerContender(name, process, depth + " " + settings.nanos() + " " + blockBytes, "");
        };
    }

    private PeerProcess ssgProcess() throws IOException {
        String layer = System.getProperty(SSG_FAKE, "");
        if (layer.isEmpty()) {
            throw new IOException("no fake of AMD's driver: it needs cc and the headers of OpenCL");
        }
        return new PeerProcess(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        SsgDepth.class.getName(),
                        hot.toString(),
                        Long.toString(bytes())),
                Map.of("OPENCL_LAYERS", layer, "SSG_FAKE", "armed=1 delay:clEnqueueReadSsgFileAMD=" + LATENCY_MICROS));
    }

    @Override
    public void close() {
        if (ssg != null) {
            ssg.close();
        }
    }
}
