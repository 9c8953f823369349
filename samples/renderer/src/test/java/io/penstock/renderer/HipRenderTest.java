// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.Penstock;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.cli.testing.GpuFakes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code render --backend hip}, on the doubles of HIP and HIPRTC: kernels draw what host draws. */
@Tag("slow")
class HipRenderTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"shaded, 2MiB", "mip, 2MiB", "z, 1MiB"})
    void thePictureIsThatOfTheHost(String view, String budget) throws IOException, InterruptedException {
        assertThat(render(GpuFakes.hip(), view, budget))
                .as("kernels draw")
                .contains("cuLaunchKernel")
                .doesNotContain("the processor draws");
    }

    @Test
    void withoutACompilerTheProcessorDrawsAndAWarningSaysSo() throws IOException, InterruptedException {
        Path fakes = Files.createDirectory(folder.resolve("fakes"));
        for (String library : List.of("libamdhip64.so.7", "libcuda.so.1")) {
            Files.copy(GpuFakes.hip().resolve(library), fakes.resolve(library));
        }
        assertThat(render(fakes, "z", "1MiB"))
                .contains("no libhiprtc beside the HIP runtime", "the processor draws")
                .doesNotContain("cuLaunchKernel");
    }

    /** Renders in a process of its own, compares the picture with the host's, and returns what was printed. */
    private String render(Path fakes, String view, String budget) throws IOException, InterruptedException {
        Path expected = folder.resolve("host.png");
        Path picture = folder.resolve("hip.png");
        assertThat(CommandLineRun.of("render", "--view", view, "--out", expected, "--backend", "host")
                        .code())
                .isZero();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dpenstock.hip.libamdhip64=" + fakes.resolve("libamdhip64.so.7"),
                "-Dpenstock.hip.libhipfile=" + fakes.resolve("libhipfile.so.0"),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Penstock.class.getName()));
        command.addAll(List.of("render", "--view", view, "--budget", budget, "--backend", "hip"));
        command.addAll(List.of("--out", picture.toString()));
        ProcessBuilder process = new ProcessBuilder(command).redirectErrorStream(true);
        process.environment().put("FAKES_TRACE", "1"); // prints each call
        Process render = process.start();
        String printed = new String(render.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(render.waitFor()).as(printed).isZero();
        assertThat(picture).hasSameBinaryContentAs(expected);
        return printed;
    }
}
