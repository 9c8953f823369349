// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Availability;
import io.penstock.Backends;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code doctor} and {@code copy} on Windows, where there is Direct3D 11. */
class Dx11CommandsTest {

    @TempDir
    Path folder;

    @BeforeAll
    static void whereThereIsDirect3d() {
        Availability dx11 = Backends.list().stream()
                .filter(listing -> listing.name().equals("dx11"))
                .findFirst()
                .orElseThrow()
                .availability();
        Require.backend("dx11", dx11);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 511, 4096, 4097, 20_000_001})
    void everySizeArrivesWhole(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Path source = Files.write(folder.resolve("quelle gr\u00f6\u00dfer \u4e2d"), bytes);
        Path copy = folder.resolve("copy \ud83d\udca7");
        CommandLineRun run =
                CommandLineRun.of("copy", source, copy, "--backend", "dx11", "--chunk", "1MiB", "--verify");
        // What Windows lacks is reported; nothing else is.
        assertThat(run.err().lines())
                .singleElement()
                .asString()
                .contains("has no unnamed files: if the copy is killed");
        assertThat(run.code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
        assertThat(run.out().lines().findFirst().orElseThrow())
                .startsWith("copied " + size + " bytes")
                .contains(size == 0 ? "path none" : "path STAGED")
                .endsWith("backend dx11");
        assertThat(run.out()).contains("SHA-256 ");
    }

    @Test
    void theDoctorShowsTheAdapterAndWhyNotTheOthers() {
        CommandLineRun run = CommandLineRun.of("doctor");
        assertThat(run.out())
                .contains("dx11: available", "adapter 0: ", "host: available", "are looked at on Linux only");
        assertThat(run.err()).isEmpty();
    }
}
