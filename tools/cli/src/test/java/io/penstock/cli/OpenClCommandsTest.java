// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code doctor} and {@code copy} on this machine's OpenCL. */
class OpenClCommandsTest {

    @TempDir
    Path folder;

    private Path source;
    private Path copy;

    @BeforeEach
    void find() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("opencl-ssg"))
                .forEach(listing -> Require.backend("opencl", listing.availability()));
        source = folder.resolve("source");
        copy = folder.resolve("copy");
    }

    private byte[] fill(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(source, bytes);
        return bytes;
    }

    private CommandLineRun copy(String... more) {
        Object[] all = Stream.concat(
                        Stream.of("copy", source, copy, "--backend", "opencl-ssg", "--chunk", "1MiB", "--verify"),
                        Stream.of(more))
                .toArray();
        return CommandLineRun.of(all);
    }

    @ParameterizedTest
    @CsvSource({
        "0, staged, none",
        "1, staged, STAGED",
        "4097, staged, STAGED",
        "20000001, staged, STAGED",
    })
    void everySizeArrivesWholeThroughStagingBuffers(int size, String path, String said) throws IOException {
        assertArrives(size, path, said);
    }

    private void assertArrives(int size, String path, String said) throws IOException {
        byte[] bytes = fill(size);
        CommandLineRun run = copy("--path", path);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
        assertThat(run.out().lines().findFirst().orElseThrow())
                .startsWith("copied " + size + " bytes")
                .contains("path " + said)
                .endsWith("backend opencl-ssg");
    }

    /** Where the only devices have memory of their own there is no such way, which is reported. */
    @ParameterizedTest
    @CsvSource({"1, map", "4097, map", "20000001, map", "511, host"})
    void everySizeArrivesWholeInMappedBuffersOrIsRefused(int size, String path) throws IOException {
        boolean shared = Backends.list().stream()
                .flatMap(listing -> listing.availability().details().stream())
                .anyMatch(line -> line.endsWith("; chosen") && line.contains("shared with the host"));
        if (shared) {
            assertArrives(size, path, "HOST");
        } else {
            fill(size);
            assertThat(copy("--path", path).code()).isEqualTo(1);
            assertThat(copy).doesNotExist();
        }
    }

    @Test
    void anUnknownPathIsRefusedWithAListOfTheKnownPaths() throws IOException {
        fill(1000);
        CommandLineRun run = copy("--path", "scenic");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .contains("there is no path 'scenic' for backend opencl-ssg")
                .contains("penstock.opencl.path: auto, ");
        assertThat(copy).doesNotExist();
    }

    @Test
    void theDoctorShowsPlatformsAndDevices() {
        CommandLineRun run = CommandLineRun.of("doctor");
        assertThat(run.out())
                .contains("opencl-ssg: available")
                .contains("platform: ")
                .contains("device 0: ");
    }

    @Test
    void aModelArrivesWholeAndInParts() throws IOException {
        ModelFile.assertLoads(ModelFile.write(folder.resolve("model.safetensors")), "opencl-ssg");
    }
}
