// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ViewCommandTest {

    @TempDir
    Path folder;

    @Test
    void theHelpNamesItsOptions() {
        CommandLineRun run = CommandLineRun.of("view", "--help");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("[VOLUME]", "--port", "--origin", "--budget", "--backend", "loopback only");
    }

    @Test
    void aPortOutOfRangeIsMisuse() {
        CommandLineRun run = CommandLineRun.of("view", "--port", "65536");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--port must be 0 to 65535, was 65536");
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
            assertThat(run.err()).contains("cannot listen on", String.valueOf(taken.getLocalPort()));
        }
    }
}
