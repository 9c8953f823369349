// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.fakes;

import static io.penstock.engine.testing.CompiledFakes.command;
import static io.penstock.engine.testing.CompiledFakes.run;

import io.penstock.engine.testing.CompiledFakes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Compiles the layer, and the program in C that tests it. */
final class SsgLayerBuild {

    private static final String LIBRARY = "libssg-fake.so";
    private static final CompiledFakes COMPILED = new CompiledFakes("backend-opencl-ssg");

    private SsgLayerBuild() {}

    /** Returns why the layer cannot be built here, or null. */
    static @Nullable String unavailable() {
        String unavailable = CompiledFakes.unavailable();
        if (unavailable == null && !Files.exists(Path.of("/usr/include/CL/cl_layer.h"))) {
            return "no OpenCL headers";
        }
        if (unavailable == null && !Files.isDirectory(COMPILED.sources())) {
            return "no sources in " + COMPILED.sources();
        }
        return unavailable;
    }

    /** Returns the layer. */
    static Path layer() throws IOException {
        return COMPILED.folder("layer", List.of("-O1"), SsgLayerBuild::compileLayer)
                .resolve(LIBRARY);
    }

    /** Runs the program that tests the layer, both made with a sanitizer, and returns its output. */
    static String tested(String sanitizer, Path files) throws IOException {
        List<String> flags = List.of("-O1", "-fno-omit-frame-pointer", "-fsanitize=" + sanitizer);
        Path made = COMPILED.folder("test", flags, (folder, all) -> {
            compileLayer(folder, all);
            compileTest(folder, all);
        });
        return run(List.of(
                "env",
                "OPENCL_LAYERS=" + made.resolve(LIBRARY),
                made.resolve("ssg-test").toString(),
                files.toString()));
    }

    private static void compileLayer(Path folder, List<String> flags) throws IOException {
        run(COMPILED.library(folder.resolve(LIBRARY), flags, COMPILED.sources().resolve("ssg")));
    }

    private static void compileTest(Path folder, List<String> flags) throws IOException {
        List<String> command = new ArrayList<>(command(flags, folder.resolve("ssg-test")));
        try (Stream<Path> files = Files.list(COMPILED.sources().resolve("test"))) {
            files.map(Path::toString)
                    .filter(file -> file.endsWith(".c"))
                    .sorted()
                    .forEach(command::add);
        }
        command.addAll(List.of("-L" + folder, "-l:" + LIBRARY, "-l:libOpenCL.so.1", "-Wl,-rpath,$ORIGIN"));
        run(command);
    }
}
