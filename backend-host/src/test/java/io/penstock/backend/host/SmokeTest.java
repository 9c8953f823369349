// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.engine.Engine;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/** A user's program in a JVM of its own, on the class path and on the module path: discovery and native access work. */
class SmokeTest {

    @TempDir
    Path directory;

    private Path file;
    private Path program;

    @BeforeEach
    void compile() throws IOException {
        Path api = origin(Backend.class);
        assumeTrue(
                Files.isRegularFile(api) || Files.exists(api.resolve("module-info.class")),
                "modules: " + api + " was compiled without");
        file = Files.writeString(directory.resolve("file"), "penstock");
        program = Files.createDirectory(directory.resolve("program"));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Writer said = new StringWriter();
        // JSpecify is needed to compile, and not to run.
        Stream<Path> libraries = Stream.concat(libraries(), Stream.of(origin(NullMarked.class)));
        List<String> options = List.of("-p", path(Stream.concat(ours(), libraries)), "-d", program.toString());
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            var sources = files.getJavaFileObjects(resource("module-info.java"), resource("Smoke.java"));
            assertThat(compiler.getTask(said, files, null, options, null, sources)
                            .call())
                    .as(said.toString())
                    .isTrue();
        }
    }

    private static File resource(String name) {
        return Path.of(URI.create(SmokeTest.class.getResource("/smoke/" + name).toString()))
                .toFile();
    }

    private static Path origin(Class<?> type) {
        return Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }

    private static Path origin(String type) {
        try {
            return origin(Class.forName(type));
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static Stream<Path> ours() {
        return Stream.of(Backend.class, Engine.class, HostProvider.class).map(SmokeTest::origin);
    }

    private static Stream<Path> libraries() {
        return Stream.of(
                origin(Flux.class),
                origin(Publisher.class),
                origin(LoggerFactory.class),
                origin("com.sun.jna.Native"),
                origin("org.jctools.queues.MessagePassingQueue"),
                origin("org.jctools.queues.varhandle.MpscVarHandleArrayQueue"));
    }

    private static String path(Stream<Path> parts) {
        return parts.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private String everything() {
        return path(Stream.concat(Stream.concat(ours(), libraries()), Stream.of(program)));
    }

    private record Said(int code, String out, String err) {}

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

    /** What this JVM, where JNA is known to work or not, says of host I/O: the child must find the same. */
    private static String hostReason() {
        return Backends.list().stream()
                .filter(listing -> listing.name().equals("host"))
                .map(listing -> "host: " + listing.availability().reason())
                .findFirst()
                .orElseThrow();
    }

    private static void assertReads(Said said, String module) {
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out().lines()).containsExactly("host read 8 bytes: penstock in " + module, hostReason());
        assertThat(said.err().lines().filter(line -> line.startsWith("WARNING")))
                .as("warnings of the JVM: native access that was not allowed, Unsafe")
                .isEmpty();
    }

    @Test
    void aProgramOnTheModulePathReadsAFile() throws IOException, InterruptedException {
        // The flag for JNA alone: JDK 17 does not know a module of that name before it is resolved, and only warns.
        assertReads(
                run(Map.of(), "--enable-native-access=com.sun.jna", "-p", everything(), "-m", "smoke/smoke.Smoke"),
                "smoke");
    }

    @Test
    void aProgramOnTheClassPathReadsAFile() throws IOException, InterruptedException {
        assertReads(onClassPath(Map.of()), "no module");
    }

    @Test
    void aProgramInALayerWhoseModulesHaveLoadersOfTheirOwnReadsAFile() throws ReflectiveOperationException {
        Path[] path = Stream.concat(Stream.concat(ours(), libraries()), Stream.of(program))
                .toArray(Path[]::new);
        Configuration resolved = ModuleLayer.boot()
                .configuration()
                .resolveAndBind(ModuleFinder.of(path), ModuleFinder.of(), Set.of("smoke"));
        ModuleLayer layer =
                ModuleLayer.boot().defineModulesWithManyLoaders(resolved, ClassLoader.getPlatformClassLoader());
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(null);
        try {
            Object text = layer.findLoader("smoke")
                    .loadClass("smoke.Smoke")
                    .getMethod("text", String.class)
                    .invoke(null, file.toString());
            assertThat(text).isEqualTo("host read 8 bytes: penstock in smoke");
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private Said onClassPath(Map<String, String> environment) throws IOException, InterruptedException {
        return run(environment, "--enable-native-access=ALL-UNNAMED", "-cp", everything(), "smoke.Smoke");
    }

    @Test
    void theEnvironmentChoosesBackendAndOptionsAndMayNameWhatIsAbsent() throws IOException, InterruptedException {
        Said said = onClassPath(Map.of(
                "PENSTOCK_BACKEND", "host",
                "PENSTOCK_REQUIRE", "host,io_uring",
                "PENSTOCK_CUFILE_BATCH", "of a module that is absent",
                "PENSTOCK_HOST_IO", "pool"));
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out()).contains("host read 8 bytes: penstock").contains("as penstock.host.io says");
    }

    @Test
    void anotherBackendThanThereIsNamesItAndListsThoseThatThereAre() throws IOException, InterruptedException {
        Said said = onClassPath(Map.of("PENSTOCK_BACKEND", "cufile"));
        assertThat(said.code()).isNotZero();
        assertThat(said.err())
                .contains("there is no backend 'cufile'; providers:")
                .contains(hostReason().replace("host: ", "host: available, "));
    }

    @Test
    void aMisspeltVariableAndABadValueAreErrorsThatNameThem() throws IOException, InterruptedException {
        Said misspelt = onClassPath(Map.of("PENSTOCK_HOST_OI", "pool"));
        assertThat(misspelt.code()).isNotZero();
        assertThat(misspelt.err()).contains("PENSTOCK_HOST_OI").contains("no option of Penstock");
        Said bad = onClassPath(Map.of("PENSTOCK_HOST_IO", "floppy"));
        assertThat(bad.code()).isNotZero();
        assertThat(bad.err())
                .contains("PENSTOCK_HOST_IO")
                .contains("penstock.host.io=floppy")
                .contains("auto, uring, pool");
    }
}
