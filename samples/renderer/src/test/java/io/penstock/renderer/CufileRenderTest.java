// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import io.penstock.cli.testing.GpuFakes;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code render --backend cufile}: kernels look at slabs where they are, behind fences, and draw what host draws. */
@Tag("slow")
class CufileRenderTest {

    @TempDir
    Path folder;

    @BeforeEach
    void find() throws IOException {
        GpuFakes.find();
    }

    @AfterEach
    void forget() {
        GpuFakes.forget();
    }

    @ParameterizedTest
    @CsvSource({
        "shaded, staged, 2MiB",
        "shaded, mapped, 8MiB",
        "mip, staged, 2MiB",
        "mip, mapped, 8MiB",
        "z, staged, 1MiB",
        "y, mapped, 8MiB"
    })
    void thePictureIsThatOfTheHost(String view, String variant, String budget) throws IOException {
        Path expected = folder.resolve("host.png");
        Path picture = folder.resolve("cufile.png");
        assertThat(CommandLineRun.of("render", "--view", view, "--out", expected, "--backend", "host")
                        .code())
                .isZero();
        System.setProperty("penstock.cufile.path", variant);
        try {
            CommandLineRun run = CommandLineRun.of(
                    "render", "--view", view, "--out", picture, "--budget", budget, "--backend", "cufile");
            assertThat(run.code()).as(run.err()).isZero();
        } finally {
            System.clearProperty("penstock.cufile.path");
        }
        assertThat(picture).hasSameBinaryContentAs(expected);
    }
}
