// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.testing.CommandLineRun;
import io.penstock.cli.testing.GpuFakes;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class DoctorCommandTest {

    @TempDir
    Path folder;

    @AfterEach
    void clearFakes() {
        GpuFakes.forget();
    }

    @Test
    void everyBackendIsListedWithItsReason() {
        CommandLineRun run = CommandLineRun.of("doctor");
        assertThat(run.code()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).startsWith("ready: host, the default backend; ").contains("host: available");
        assertThat(run.out().lines().skip(1)).first().asString().startsWith("host: ");
    }

    @Test
    void jsonHoldsTheSame() {
        CommandLineRun run = CommandLineRun.of("doctor", "--json");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .startsWith("{")
                .contains("\"default\": \"host\"", "\"options\": []", "\"paths\": []", "\"findings\": ")
                .contains("\"name\": \"host\"")
                .contains("\"available\": true")
                .contains("\"remedy\": ")
                .endsWith("}" + System.lineSeparator());
    }

    @Test
    void propertiesAndCountersOfCuFilesDriverAreReportedWhileItIsOpen() throws IOException {
        GpuFakes.find();
        // Of the build: on a disk, where /tmp may be memory.
        Path file = Files.createTempFile(Files.createDirectories(Path.of("target")), "doctor", "");
        Files.write(file, new byte[100_000]);
        CommandLineRun closed = CommandLineRun.of("doctor");
        assertThat(closed.out()).doesNotContain("cuFile's driver", "cuFile's counters");
        CommandLineRun run = CommandLineRun.of("doctor", file.toString());
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains("cuFile's driver: no nvidia-fs, direct from nothing")
                .contains("cuFile's driver: features: [dynamic routing, batches, streams, own threads]")
                .contains("cuFile's counters: read_bytes = 100000")
                .contains("cuFile's counters: reads by size, 64 KiB = 1")
                .containsPattern(
                        "cuFile's counters: GPU-[0-9a-f-]+: reads 0 by peer-to-peer DMA, 0 by nvidia-fs, 1 through"
                                + " host memory, 1 unaligned");
        assertThat(CommandLineRun.of("doctor").out()).as("closed again").doesNotContain("cuFile's driver");
        assertThat(CommandLineRun.of("doctor", file.resolveSibling("none").toString())
                        .code())
                .isNotZero();
        Files.delete(file);
    }

    @Test
    void theOptionsThatAreSetAreListedWithTheirSources() {
        System.setProperty("penstock.queue.depth", "8");
        try {
            assertThat(CommandLineRun.of("doctor").out()).contains("penstock.queue.depth = 8 (the system property)");
        } finally {
            System.clearProperty("penstock.queue.depth");
        }
    }

    @Test
    void valuesOfOptionsReachNoTerminalAsTheyAre() {
        String hostile = "\033]0;title\007\n    gpu: available";
        System.setProperty("penstock.nvme.device", hostile);
        try {
            // CommandLineRun removes colours only, and this sets a title.
            assertThat(CommandLineRun.of("doctor").out())
                    .doesNotContain("\033", "\007", "\n    gpu: available")
                    .contains("penstock.nvme.device = ?]0;title??    gpu: available (the system property)");
            assertThat(CommandLineRun.of("doctor", "--json").out()).contains("\\u001b]0;title\\u0007\\u000a");
        } finally {
            System.clearProperty("penstock.nvme.device");
        }
    }

    @Test
    void aWrongOptionIsNamedBesideWhatTheMachineIs() {
        System.setProperty("penstock.queue.depth", "0");
        try {
            CommandLineRun run = CommandLineRun.of("doctor");
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.out())
                    .contains("the default backend cannot be used: the system property sets penstock.queue.depth=0")
                    .contains("1 to 4096", "machine:");
        } finally {
            System.clearProperty("penstock.queue.depth");
        }
    }

    @Test
    void itFailsIfTheDefaultBackendCannotBeUsed() {
        System.setProperty("penstock.backend", "nonesuch");
        try {
            CommandLineRun run = CommandLineRun.of("doctor");
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.out())
                    .contains("the default backend cannot be used: there is no backend 'nonesuch'")
                    .contains("    penstock.backend = nonesuch (the system property)");
        } finally {
            System.clearProperty("penstock.backend");
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX) // the message is its own
    void aFileThatCannotBeLookedAtIsNotReportedAsMissing() {
        String name = "x".repeat(300); // longer than any file system's names
        for (String command : List.of("doctor", "bench")) {
            assertThat(CommandLineRun.of(command, name).err()).contains(name + ": File name too long");
        }
        assertThat(CommandLineRun.of("copy", name, "copy").err()).contains(name + ": File name too long");
    }

    @Test
    void thePlaceOfAFileAndThePathOfEachBackendAreListed() throws IOException {
        Path file = Files.createTempFile(Files.createDirectories(Path.of("target")), "doctor", "");
        CommandLineRun run = CommandLineRun.of("doctor", file);
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("path of a read:", "    host: HOST").containsPattern("irect I/O");
        assertThat(CommandLineRun.of("doctor", file, "--json").out())
                .contains("{\"backend\": \"host\", \"path\": \"HOST\"");
        Files.delete(file);
    }

    @Test
    void aFileThatNoBackendReadsIsRefusedAsSuch() throws IOException {
        Path zero = Path.of("/dev/zero");
        assumeTrue(Files.exists(zero), "there is no " + zero);
        Path socket = folder.resolve("socket");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            for (Path file : List.of(zero, socket)) {
                CommandLineRun run = CommandLineRun.of("doctor", file);
                assertThat(run.code()).isEqualTo(1);
                assertThat(run.out()).isEmpty();
                assertThat(run.complaints())
                        .containsExactly(
                                "penstock: " + file + " is neither a regular file, a directory nor a block device");
            }
        }
    }

    @Test
    void aDeviceThatCannotBeOpenedIsRefusedAsSuch() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/bin/mknod")), "there is no /bin/mknod");
        Path device = folder.resolve("device"); // of a number for local use, which no driver has
        Process made = new ProcessBuilder("/bin/mknod", device.toString(), "b", "240", "0")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assumeTrue(made.waitFor() == 0, "no block device can be made: it needs root");
        CommandLineRun run = CommandLineRun.of("doctor", device);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.complaints()).singleElement().asString().startsWith("penstock: " + device + ": ");
    }

    @Test
    void aBrokenLinkIsDescribed() throws IOException {
        Path link = folder.resolve("link");
        Path target = folder.resolve("absent");
        Files.createSymbolicLink(link, target);
        assertThat(CommandLineRun.of("doctor", link).complaints())
                .containsExactly("penstock: " + link + " is a symbolic link to " + target + ", which does not exist");
    }

    @Test
    void aBlockDeviceIsDescribedItself() throws IOException, InterruptedException {
        Path image = Files.write(folder.resolve("image"), new byte[1 << 20]);
        try (LoopDevice device = LoopDevice.of(image)) {
            CommandLineRun run = CommandLineRun.of("doctor", device.path());
            assertThat(run.code()).isZero();
            assertThat(run.out())
                    .containsPattern("note +" + device.path().getFileName() + ": blocks of 512 bytes")
                    .contains("    host: HOST")
                    .doesNotContain("devtmpfs", "file-system");
        }
    }

    @Test
    void withoutATerminalThereAreNoColours() {
        assertThat(CommandLineRun.of("doctor").out()).doesNotContain("\033");
    }

    @Test
    void textIsQuotedForJson() {
        assertThat(JsonText.quoted("a \"b\" \\ c\nd")).isEqualTo("\"a \\\"b\\\" \\\\ c\\u000ad\"");
    }
}
