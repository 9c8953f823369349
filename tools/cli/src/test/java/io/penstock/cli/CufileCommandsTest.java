// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import io.penstock.cli.testing.GpuFakes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code doctor} and {@code copy} on a GPU made of host memory, which the tests of backend-cufile have built. */
class CufileCommandsTest {

    @TempDir
    Path folder;

    private Path source;
    private Path copy;

    @BeforeEach
    void find() throws IOException {
        GpuFakes.find();
        source = folder.resolve("source");
        copy = folder.resolve("copy");
    }

    @AfterEach
    void forget() {
        GpuFakes.forget();
    }

    private byte[] fill(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(source, bytes);
        return bytes;
    }

    private CommandLineRun copy(String... more) {
        Object[] all = Stream.concat(
                        Stream.of("copy", source, copy, "--backend", "cufile", "--chunk", "1MiB", "--verify"),
                        Stream.of(more))
                .toArray();
        return CommandLineRun.of(all);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 511, 4096, 4097, 20_000_001})
    void everySizeArrivesCompletelyOnTheRequestedPath(int size) throws IOException {
        byte[] bytes = fill(size);
        CommandLineRun run = copy("--path", "staged");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
        assertThat(run.out().lines().findFirst().orElseThrow())
                .startsWith("copied " + size + " bytes")
                .contains(size == 0 ? "path none" : "path STAGED")
                .endsWith("backend cufile");
    }

    @Test
    void aPathThatTheBackendsOptionHasIsSetThere() throws IOException {
        fill(1000);
        System.setProperty("penstock.cufile.path", "batch");
        try {
            assertThat(copy("--path", "staged").code())
                    .as("the command line wins")
                    .isZero();
        } finally {
            System.clearProperty("penstock.cufile.path");
        }
    }

    @Test
    void anUnknownPathIsRefusedWithAListOfTheKnownPaths() throws IOException {
        fill(1000);
        CommandLineRun run = copy("--path", "scenic");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .contains("there is no path 'scenic' for backend cufile")
                .contains("penstock.cufile.path: auto, direct, sync, batch, stream, staged, mapped");
        assertThat(copy).doesNotExist();
    }

    @Test
    void thePathOfAnotherKindOfDeviceIsRefused() throws IOException {
        fill(1000);
        CommandLineRun run = copy("--path", "host");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("not HOST");
        assertThat(copy).doesNotExist();
    }

    @Test
    void theDoctorShowsDriverAndGpus() {
        CommandLineRun run = CommandLineRun.of("doctor");
        assertThat(run.out())
                .contains("cufile: available")
                .contains("CUDA 13.0")
                .contains("GPU 0: ");
    }

    @Test
    void aModelArrivesWholeAndInParts() throws IOException {
        ModelFile.assertLoads(ModelFile.write(folder.resolve("model.safetensors")), "cufile");
    }

    @Test
    void severalDevicesGetTheirPartsAtTheSameTime() throws IOException {
        Path model = ModelFile.write(folder.resolve("parts.safetensors"));
        CommandLineRun run =
                CommandLineRun.of("load", model, "--backend", "cufile", "--gpus", "0,0", "--shard", "rows", "--verify");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines().filter(line -> line.equals("device 0"))).hasSize(2);
        assertThat(run.out().lines().filter(line -> line.matches("matrix +BF16 +\\[350, 1001] +700700 .*")))
                .hasSize(2);
        assertThat(run.out()).containsPattern("backend cufile, 2 devices; verified");
        CommandLineRun json = CommandLineRun.of("load", model, "--backend", "cufile", "--gpus", "0,0", "--json");
        assertThat(json.out()).startsWith("{\n\"bytes\": ").contains("\"devices\": [", "\"device\": \"device 0\"");
    }

    @Test
    void aPartForOneDeviceNeedsADimensionToo() throws IOException {
        Path model = ModelFile.write(folder.resolve("part.safetensors"));
        CommandLineRun run = CommandLineRun.of("load", model, "--backend", "cufile", "--gpus", "0", "--part", "1/2");
        assertThat(run.code()).as(run.out()).isEqualTo(2);
        assertThat(run.err()).contains("--part needs --shard rows or --shard columns");
        assertThat(run.out()).isEmpty();
    }
}
