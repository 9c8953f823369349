// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Programs of the system, and ours in C, which are compiled when they are first needed. */
final class Tool {

    /** What {@code PENSTOCK_REQUIRE} calls these tests. */
    static final String FAULTS = "faults";

    private static final Path BASE = Path.of(System.getProperty("basedir", ""));
    private static final Path SOURCES = BASE.resolve("src/test/c");
    private static final Path PROGRAMS = BASE.resolve("target/faults-bin");
    private static final int FIRST_USER = 1 << 20; // systems give smaller numbers
    private static final Map<String, Path> COMPILED = new ConcurrentHashMap<>();

    private Tool() {}

    /** Something that needs a privilege or a program which the machine may lack. */
    interface Attempt<T> {
        T make() throws IOException;
    }

    /** Makes something, or skips the test with the reason. */
    static <T> T require(Attempt<T> attempt) {
        String unavailable = notRoot();
        T made = null;
        if (unavailable == null) {
            try {
                made = attempt.make();
            } catch (IOException e) {
                unavailable = e.getMessage();
            }
        }
        Require.backend(FAULTS, made == null && unavailable == null ? "no reason given" : unavailable);
        if (made == null) {
            throw new AssertionError("neither made nor refused");
        }
        return made;
    }

    private static @Nullable String notRoot() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0) ? null : "only root may mount";
        } catch (IOException | UnsupportedOperationException e) {
            return "not Linux: " + e;
        }
    }

    /** Compiles a test program, the first time, and returns it. */
    static Path compiled(String name, String... libraries) throws IOException {
        Path known = COMPILED.get(name);
        if (known != null) {
            return known;
        }
        Path program = Files.createDirectories(PROGRAMS).resolve(name);
        Path unfinished = Files.createTempFile(PROGRAMS, name, ""); // several JVMs may want it at once
        List<String> cc = new ArrayList<>(List.of("cc", "-O1", "-Wall", "-Werror", "-D_FILE_OFFSET_BITS=64"));
        cc.addAll(List.of("-o", unfinished.toString(), SOURCES.resolve(name + ".c") + ""));
        cc.addAll(List.of(libraries));
        run(cc);
        Files.move(unfinished, program, StandardCopyOption.ATOMIC_MOVE);
        COMPILED.put(name, program);
        return program;
    }

    /** Runs a program to its end and returns its output. */
    static String run(String... command) throws IOException {
        return run(List.of(command));
    }

    /** Runs a program to its end and returns its output, which the exception of a failure has too. */
    static String run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = await(process);
        if (status != 0) {
            throw new IOException(String.join(" ", command) + " ended with " + status + ": " + said.strip());
        }
        return said;
    }

    static int await(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while " + process.info() + " ran", e);
        }
    }

    /**
     * Returns the arguments to put before a command to limit its locked memory. The command runs under a user ID that
     * no other process has, with root's permission to read files: all processes of a user share the limit, and the
     * kernel may free the memory of a ring some time after its process has ended.
     */
    static String[] withLockedMemory(int bytes) {
        int user = ThreadLocalRandom.current().nextInt(FIRST_USER, Integer.MAX_VALUE);
        return new String[] {
            "setpriv",
            "--reuid=" + user,
            "--inh-caps=+dac_override",
            "--ambient-caps=+dac_override",
            "--bounding-set=-ipc_lock",
            "prlimit",
            "--memlock=" + bytes + ":" + bytes
        };
    }
}
