// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.Backend;
import io.penstock.engine.Engine;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/**
 * A user's program, which knows the API only: compiled as a module, and run in a JVM of its own against what a build
 * has made. It reads a file of 8 bytes through the default backend, and says what it holds.
 */
public final class UserProgram {

    /**
     * What a run came to.
     *
     * @param code the exit status
     * @param out its lines
     * @param err what it complained about
     */
    public record Said(int code, String out, String err) {}

    private final Path directory;
    private final Path program;
    private final Path file;
    private final List<Class<?>> backends;

    private UserProgram(Path directory, Class<?>... backends) throws IOException {
        this.directory = directory;
        this.backends = List.of(backends);
        this.file = Files.writeString(directory.resolve("file"), "penstock");
        this.program = Files.createDirectory(directory.resolve("program"));
    }

    /**
     * Compiles it, or skips the test where modules were compiled without their descriptors.
     *
     * @param directory an empty one
     * @param backends a class of each backend's module
     */
    public static UserProgram compile(Path directory, Class<?>... backends) throws IOException {
        Path api = ClassPath.origin(Backend.class);
        assumeTrue(
                Files.isRegularFile(api) || Files.exists(api.resolve("module-info.class")),
                "modules: " + api + " was compiled without");
        UserProgram made = new UserProgram(directory, backends);
        made.compile();
        return made;
    }

    private void compile() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Writer said = new StringWriter();
        // JSpecify is needed to compile, and not to run.
        Stream<Path> libraries = Stream.concat(libraries(), Stream.of(ClassPath.origin(NullMarked.class)));
        List<String> options = List.of("-p", path(Stream.concat(ours(), libraries)), "-d", program.toString());
        try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            var sources = files.getJavaFileObjects(source("module-info.java"), source("Smoke.java"));
            assertThat(compiler.getTask(said, files, null, options, null, sources)
                            .call())
                    .as(said.toString())
                    .isTrue();
        }
    }

    private static File source(String name) {
        return CompiledFakes.module("engine")
                .resolve("src/testing/smoke")
                .resolve(name)
                .toFile();
    }

    private static Path origin(String type) {
        try {
            return ClassPath.origin(Class.forName(type));
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private Stream<Path> ours() {
        return Stream.concat(Stream.of(Backend.class, Engine.class), backends.stream())
                .map(ClassPath::origin);
    }

    private static Stream<Path> libraries() {
        return Stream.of(
                ClassPath.origin(Flux.class),
                ClassPath.origin(Publisher.class),
                ClassPath.origin(LoggerFactory.class),
                origin("com.sun.jna.Native"),
                origin("org.jctools.queues.MessagePassingQueue"),
                origin("org.jctools.queues.varhandle.MpscVarHandleArrayQueue"));
    }

    private static String path(Stream<Path> parts) {
        return parts.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Returns what it needs to run, itself included. */
    public List<Path> parts() {
        return Stream.concat(Stream.concat(ours(), libraries()), Stream.of(program))
                .toList();
    }

    /** Returns the file that it reads. */
    public Path file() {
        return file;
    }

    /** Runs it on the class path. */
    public Said onClassPath(Map<String, String> environment) throws IOException, InterruptedException {
        return run(
                environment, "--enable-native-access=ALL-UNNAMED", "-cp", path(parts().stream()), "smoke.Smoke");
    }

    /** Runs it on the module path. */
    public Said onModulePath(Map<String, String> environment) throws IOException, InterruptedException {
        // The flag for JNA alone: JDK 17 does not know a module of that name before it is resolved, and only warns.
        return run(
                environment, "--enable-native-access=com.sun.jna", "-p", path(parts().stream()), "-m", "smoke/smoke.Smoke");
    }

    private Said run(Map<String, String> environment, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(arguments));
        command.add(file.toString());
        Path err = directory.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PENSTOCK_"));
        builder.environment().putAll(environment);
        Process child = builder.start();
        String out = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(child.waitFor(), out, Files.readString(err));
    }
}
