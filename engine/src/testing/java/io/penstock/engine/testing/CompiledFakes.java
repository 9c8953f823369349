// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

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

/** Compiles a module's fakes in C into its {@code target/fakes}, once for each state of their sources. */
public final class CompiledFakes {

    private static final List<String> FLAGS =
            List.of("-std=gnu11", "-g", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-pthread");

    private final Path base;

    /** Looks for the sources of the module in this folder of the checkout, in whichever module's folder tests run. */
    public CompiledFakes(String module) {
        this.base = module(module);
    }

    /** Returns a module's folder, by its path from the root of the checkout. */
    static Path module(String folder) {
        Path here = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
        for (Path root = here; root != null; root = root.getParent()) {
            if (Files.isDirectory(root.resolve("engine/src/testing"))) {
                return root.resolve(folder);
            }
        }
        throw new IllegalStateException(here + " is in no checkout of Penstock");
    }

    /** Returns why fakes cannot be built here, or null. */
    public static @Nullable String unavailable() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return "the fakes are for Linux";
        }
        try {
            run(List.of("cc", "--version"));
            return null;
        } catch (IOException e) {
            return "no C compiler: " + e.getMessage();
        }
    }

    /** Returns the folder of the module's sources in C. */
    public Path sources() {
        return base.resolve("src/test/c");
    }

    /** What a compilation leaves in a folder. */
    public interface Compilation {
        /** Compiles into {@code folder} with these flags. */
        void into(Path folder, List<String> flags) throws IOException;
    }

    /** Returns a folder named after the sources, which appears as a whole: several JVMs may want it at once. */
    public Path folder(String name, List<String> more, Compilation compilation) throws IOException {
        List<String> flags = new ArrayList<>(FLAGS);
        flags.addAll(more);
        Path output = base.resolve("target/fakes");
        Path folder = output.resolve(name + "-" + fingerprint(flags));
        if (Files.isDirectory(folder)) {
            return folder;
        }
        Path unfinished = Files.createTempDirectory(Files.createDirectories(output), name);
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

    /** Returns a command that makes a library of some folders of sources and of what all fakes share. */
    public List<String> library(Path library, List<String> flags, Path... folders) throws IOException {
        List<String> command = command(flags, library);
        command.addAll(List.of("-fPIC", "-shared", "-Wl,-Bsymbolic", "-Wl,-soname," + library.getFileName()));
        List<Path> sources = new ArrayList<>(List.of(shared()));
        sources.addAll(List.of(folders));
        for (Path folder : sources) {
            files(folder)
                    .filter(file -> file.toString().endsWith(".c"))
                    .forEach(file -> command.add(file.toString()));
        }
        return command;
    }

    /** Returns the start of a command that compiles something. */
    public static List<String> command(List<String> flags, Path output) {
        List<String> command = new ArrayList<>(List.of("cc"));
        command.addAll(flags);
        command.addAll(List.of("-I" + shared(), "-o", output.toString()));
        return command;
    }

    private static Path shared() {
        return module("engine").resolve("src/testing/c");
    }

    private static Stream<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList().stream();
        }
    }

    private String fingerprint(List<String> flags) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(flags.toString().getBytes(StandardCharsets.UTF_8));
            for (Path folder : List.of(shared(), sources())) {
                for (Path file : files(folder).toList()) {
                    digest.update(Files.readAllBytes(file));
                }
            }
            return HexFormat.of().formatHex(Arrays.copyOf(digest.digest(), 8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs a program to its end, and returns its output, which the exception of a failure has too. */
    public static String run(List<String> command) throws IOException {
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

    /**
     * Compiles and runs statements in C, and returns the lines that they print.
     *
     * @param includes what comes before them, besides {@code stdio.h} and {@code stddef.h}
     */
    public static List<String> printed(Path folder, String includes, List<String> statements) throws IOException {
        List<String> program = new ArrayList<>(
                List.of(includes, "#include <stdio.h>", "#include <stddef.h>", "int main(void) {"));
        program.addAll(statements);
        program.add("return 0; }");
        Path source = Files.write(folder.resolve("program.c"), program);
        Path compiled = folder.resolve("program");
        run(List.of("cc", "-w", "-o", compiled.toString(), source.toString()));
        return run(List.of(compiled.toString())).lines().toList();
    }
}
