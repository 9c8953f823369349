// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.Penstock;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.VoxelType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ViewCommandTest {

    @TempDir
    Path folder;

    @Test
    void theHelpNamesItsOptions() {
        CommandLineRun run = CommandLineRun.of("view", "--help");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains(
                        "[VOLUME]",
                        "--port",
                        "--origin",
                        "--budget",
                        "--backend",
                        "loopback only",
                        "https://view.example ");
    }

    @Test
    void aPortOutOfRangeIsMisuse() {
        CommandLineRun run = CommandLineRun.of("view", "--port", "65536");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--port must be 0 to 65535, was 65536");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "view.example",
                "https://view.example/",
                "https://view.example/view",
                "https://View.example",
                "https://view.example:443",
                "http://view.example:80",
                "null",
                "*"
            })
    void anOriginThatNoBrowserSendsIsMisuse(String origin) {
        Path none = folder.resolve("none.nii"); // ends, if the origin were accepted
        CommandLineRun run = CommandLineRun.of("view", none, "--origin", "https://view.example", "--origin", origin);
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--origin", "such as https://view.example", "was '" + origin + "'");
    }

    @Test
    void aBackendThatIsNotThereIsMisuse() {
        Path none = folder.resolve("none.nii"); // ends, if the backend were accepted
        CommandLineRun run = CommandLineRun.of("view", none, "--backend", "nope");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .startsWith("penstock: there is no backend 'nope', but gpu, ")
                .contains("host");
        assertThat(CommandLineRun.of("view", none, "--backend", "GPU").err()).contains("there is no file");
    }

    @Test
    void aVolumeThatIsMissingIsNamed() {
        CommandLineRun run = CommandLineRun.of("view", folder.resolve("none.nii"));
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("there is no file", "none.nii");
    }

    @Test
    void aPortThatIsTakenIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CommandLineRun run = CommandLineRun.of("view", "--port", taken.getLocalPort());
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.err())
                    .contains("cannot listen on", taken.getLocalPort() + ": Address already in use")
                    .doesNotContain("bind(..)");
        }
    }

    @Test
    void theAddressIsPrintedAsItWasGiven() throws IOException {
        Path file = Files.write(
                folder.resolve("phan\ntom.nii"),
                Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 16, 16, 16)
                        .bytes());
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Penstock.class.getName(),
                        "view",
                        file.toString(),
                        "--host",
                        "0.0.0.0",
                        "--port",
                        "0")
                .start();
        try {
            assertThat(process.inputReader(StandardCharsets.UTF_8).readLine())
                    .startsWith("viewing phan?tom.nii at http://0.0.0.0:");
        } finally {
            process.destroy();
        }
    }
}
