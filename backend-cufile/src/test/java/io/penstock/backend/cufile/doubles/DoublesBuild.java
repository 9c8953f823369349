// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.doubles;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Compiles the doubles into {@code target/doubles}, once for each state of their sources. */
final class DoublesBuild {

    private static final Path BASE = base();
    private static final Path SOURCES = BASE.resolve("src/test/c");
    private static final Path OUTPUT = BASE.resolve("target/doubles");
    private static final List<String> FLAGS =
            List.of("-std=gnu11", "-g", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-pthread");

    private DoublesBuild() {}

    /** Also found from a neighbour module. */
    private static Path base() {
        Path here = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
        return here.endsWith("backend-cufile") ? here : here.resolveSibling("backend-cufile");
    }

    /** Returns why the doubles cannot be built here, or null. */
    static @Nullable String unavailable() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return "the doubles are for Linux";
        }
        try {
            run(List.of("cc", "--version"));
            return null;
        } catch (IOException e) {
            return "no C compiler: " + e.getMessage();
        }
    }

    /** Returns the folder with the libraries. */
    static Path libraries() throws IOException {
        return built("libraries", List.of("-O1"), DoublesBuild::compileLibraries);
    }

    /** Returns a program of ours that is linked with both doubles, made with a sanitizer. */
    static Path program(String name, String sanitizer) throws IOException {
        List<String> flags = List.of("-O1", "-fno-omit-frame-pointer", "-fsanitize=" + sanitizer);
        return built(name, flags, (folder, all) -> {
                    compileLibraries(folder, all);
                    List<String> command = command(all, folder.resolve(name));
                    command.add(SOURCES.resolve(name + ".c").toString());
                    command.addAll(
                            List.of("-L" + folder, "-l:libcufile.so.0", "-l:libcuda.so.1", "-Wl,-rpath,$ORIGIN"));
                    run(command);
                })
                .resolve(name);
    }

    private interface Compilation {
        void into(Path folder, List<String> flags) throws IOException;
    }

    /** A folder named after the sources, which appears as a whole: several JVMs may want it at once. */
    private static Path built(String name, List<String> more, Compilation compilation) throws IOException {
        List<String> flags = new ArrayList<>(FLAGS);
        flags.addAll(more);
        Path folder = OUTPUT.resolve(name + "-" + fingerprint(flags));
        if (Files.isDirectory(folder)) {
            return folder;
        }
        Path unfinished = Files.createTempDirectory(Files.createDirectories(OUTPUT), name);
        compilation.into(unfinished, flags);
        try {
            Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileAlreadyExistsException e) {
            return folder;
        } catch (IOException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
        }
        return folder;
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
        List<String> command = command(flags, library);
        command.addAll(List.of("-fPIC", "-shared", "-Wl,-Bsymbolic", "-Wl,-soname," + library.getFileName()));
        for (String shared : List.of("control.c", "values.c", "handles.c")) {
            command.add(SOURCES.resolve(shared).toString());
        }
        sources(SOURCES.resolve(sources))
                .filter(file -> file.toString().endsWith(".c"))
                .forEach(file -> command.add(file.toString()));
        command.addAll(more);
        run(command);
    }

    private static List<String> command(List<String> flags, Path output) {
        List<String> command = new ArrayList<>(List.of("cc"));
        command.addAll(flags);
        command.addAll(List.of("-o", output.toString()));
        return command;
    }

    private static Stream<Path> sources(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList().stream();
        }
    }

    private static String fingerprint(List<String> flags) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(flags.toString().getBytes(StandardCharsets.UTF_8));
            for (Path file : sources(SOURCES).toList()) {
                digest.update(Files.readAllBytes(file));
            }
            return HexFormat.of().formatHex(Arrays.copyOf(digest.digest(), 8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs a program to its end, and returns what it said; a failure is an exception that says so too. */
    static String run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(String.join(" ", command) + " ended with " + status + ": " + said.strip());
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return said;
    }
}
