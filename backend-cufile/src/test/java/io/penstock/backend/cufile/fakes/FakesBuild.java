// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.engine.testing.CompiledFakes.command;
import static io.penstock.engine.testing.CompiledFakes.run;

import io.penstock.engine.testing.CompiledFakes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Which libraries and programs the fakes are. */
final class FakesBuild {

    private static final CompiledFakes COMPILED = new CompiledFakes("backend-cufile");
    private static final Path SOURCES = COMPILED.sources();

    private FakesBuild() {}

    /** Returns the folder with the libraries. */
    static Path libraries() throws IOException {
        return COMPILED.folder("libraries", List.of("-O1"), FakesBuild::compileLibraries);
    }

    /** Returns a test program that is linked with both fakes, made with a sanitizer. */
    static Path program(String name, String sanitizer) throws IOException {
        List<String> flags = List.of("-O1", "-fno-omit-frame-pointer", "-fsanitize=" + sanitizer);
        return COMPILED.folder(name, flags, (folder, all) -> {
                    compileLibraries(folder, all);
                    List<String> command = command(all, folder.resolve(name));
                    command.add(SOURCES.resolve(name + ".c").toString());
                    command.addAll(
                            List.of("-L" + folder, "-l:libcufile.so.0", "-l:libcuda.so.1", "-Wl,-rpath,$ORIGIN"));
                    run(command);
                })
                .resolve(name);
    }

    private static void compileLibraries(Path folder, List<String> flags) throws IOException {
        compileLibrary(folder.resolve("libcuda.so.1"), "cuda", flags, List.of("-DHANDLES_FROM=0x1000"));
        compileLibrary(
                folder.resolve("libcufile.so.0"),
                "cufile",
                flags,
                List.of("-DHANDLES_FROM=0x200000", "-L" + folder, "-l:libcuda.so.1", "-Wl,-rpath,$ORIGIN"));
        compileCompiler(folder, flags);
    }

    private static void compileCompiler(Path folder, List<String> flags) throws IOException {
        List<String> command = command(flags, folder.resolve("libnvrtc.so.13"));
        command.addAll(List.of("-fPIC", "-shared", "-Wl,-soname,libnvrtc.so.13"));
        command.add(SOURCES.resolve("nvrtc/nvrtc.c").toString());
        run(command);
    }

    private static void compileLibrary(Path library, String sources, List<String> flags, List<String> more)
            throws IOException {
        List<String> command = COMPILED.library(library, flags, SOURCES.resolve(sources));
        command.add(SOURCES.resolve("handles.c").toString());
        command.addAll(more);
        run(command);
    }
}
