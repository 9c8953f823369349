// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code doctor} and {@code copy} on this machine's OpenGL, and by AMD's extension on the fake of its driver. */
@Tag("slow")
class GlCommandsTest {

    private static final Path BUILT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../../backend-gl/target/fakes");

    @TempDir
    Path folder;

    private Path source;
    private Path copy;

    @BeforeEach
    void find() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("gl"))
                .forEach(listing -> Require.backend("gl", listing.availability()));
        source = folder.resolve("source");
        copy = folder.resolve("copy");
    }

    private byte[] fill(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(source, bytes);
        return bytes;
    }

    private List<String> arguments(String path) {
        return List.of(
                "copy",
                source.toString(),
                copy.toString(),
                "--backend",
                "gl",
                "--chunk",
                "1MiB",
                "--verify",
                "--path",
                path);
    }

    private static void assertPrints(String out, int size, String path) {
        assertThat(out.lines().findFirst().orElse(""))
                .startsWith("copied " + size + " bytes")
                .contains("path " + (size == 0 ? "none" : path))
                .endsWith("backend gl");
    }

    @ParameterizedTest
    @CsvSource({
        "0, staged, STAGED",
        "1, staged, STAGED",
        "4097, staged, STAGED",
        "20000001, staged, STAGED",
        "0, host, HOST",
        "1, host, HOST",
        "4097, host, HOST",
        "20000001, host, HOST"
    })
    void everySizeArrivesCompletelyOnTheRequestedPath(int size, String path, String said) throws IOException {
        byte[] bytes = fill(size);
        CommandLineRun run = CommandLineRun.of(arguments(path).toArray());
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
        assertPrints(run.out(), size, said);
    }

    /** In a JVM of its own, since this one has the machine's OpenGL by now. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4097, 20_000_001})
    void everySizeArrivesWholeByTheExtension(int size) throws IOException, InterruptedException {
        byte[] bytes = fill(size);
        String driver = driver();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Penstock.class.getName()));
        command.addAll(arguments("ssg"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment()
                .putAll(Map.of(
                        "PENSTOCK_GL_LIBGL", driver,
                        "PENSTOCK_GL_SSG_LIBRARY", driver,
                        "PENSTOCK_GL_SSG_BLOCK_SIZE_TOKEN", "0x7F01",
                        "PENSTOCK_GL_SSG_FILE_SIZE_TOKEN", "0x7F02",
                        "PENSTOCK_GL_SSG_HANDLE_BITS", "64"));
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(out).isZero();
        assertThat(copy).hasBinaryContent(bytes);
        assertThat(out.lines()).anySatisfy(line -> assertPrints(line, size, "DIRECT"));
    }

    private static String driver() throws IOException {
        Path newest = null;
        if (Files.isDirectory(BUILT)) {
            try (Stream<Path> folders = Files.list(BUILT)) {
                newest = folders.map(made -> made.resolve("libgl-ssg-fake.so"))
                        .filter(Files::exists)
                        .max(Comparator.comparing(made -> made.toFile().lastModified()))
                        .orElse(null);
            }
        }
        Require.backend("fakes", newest == null ? "no fake in " + BUILT + ": run the tests of backend-gl" : null);
        return String.valueOf(newest);
    }

    @Test
    void anUnknownPathIsRefusedWithAListOfTheKnownPaths() throws IOException {
        fill(1000);
        CommandLineRun run = CommandLineRun.of(arguments("scenic").toArray());
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .contains("there is no path 'scenic' for backend gl")
                .contains("penstock.gl.path: auto, ssg, host, staged");
        assertThat(copy).doesNotExist();
    }

    @Test
    void theExtensionIsRefusedIfNoOptionDescribesIt() throws IOException {
        fill(1000);
        CommandLineRun run = CommandLineRun.of(arguments("ssg").toArray());
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("penstock.gl.ssg-handle-bits");
        assertThat(copy).doesNotExist();
    }

    @Test
    void theDoctorShowsTheDisplayAndWhatIsMissingOfTheExtension() {
        CommandLineRun run = CommandLineRun.of("doctor");
        assertThat(run.out())
                .contains("gl: available")
                .contains("display: ")
                .contains("no SSG: AMD did not publish the values for penstock.gl.ssg-extension");
    }
}
