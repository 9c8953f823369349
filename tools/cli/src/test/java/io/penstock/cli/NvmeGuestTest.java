// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.penstock.tck.Require;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * A guest with an IOMMU, in which the backend {@code nvme} drives QEMU's controller by VFIO:
 * {@code backend-nvme/qemu/run}. It is the only guest of all tests, since its start takes longest: it runs the command,
 * and what the backend has beyond that.
 */
@Tag("once")
@Tag("slow")
class NvmeGuestTest {

    private static final long PATIENCE_SECONDS = 300;
    private static final int FILE_BYTES = 300_001;
    private static final int DISK_MIB = 64;
    private static final String RUN =
            Path.of("..", "..", "backend-nvme", "qemu", "run").toString();
    private static final List<String> BY_IOMMUFD = List.of(
            "by VFIO and iommufd, /dev/vfio/devices/vfio0",
            "a file in the address space: commands have read into it",
            "a dma-buf that the kernel does not map: ");
    private static final List<String> BETWEEN_CONTROLLERS = List.of(
            "a BAR as a dma-buf: a command has read into another controller's memory",
            "BAR0 as a dma-buf: a command has written another controller's registers to the disk");
    private static final List<String> BY_GROUP = List.of("by VFIO, IOMMU group ", "a dma-buf without iommufd: ");
    private static final Path FOLDER = Path.of("target", "guest").toAbsolutePath(); // the guest has a /tmp of its own

    @Test
    @Timeout(value = 6, unit = TimeUnit.MINUTES) // an emulated processor
    void aGuestDrivesItsControllerByVfio() throws IOException, InterruptedException {
        Require.backend("guest", refusal());
        Path file = Files.createDirectories(FOLDER.resolve("files")).resolve("file");
        byte[] content = new byte[FILE_BYTES];
        new Random(4).nextBytes(content);
        Files.write(file, content);
        Path disk = FOLDER.resolve("disk");
        makeDisk(disk, file.getParent());
        Path output = FOLDER.resolve("output");
        Process guest = new ProcessBuilder(command(disk, file))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = guest.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        guest.descendants().forEach(ProcessHandle::destroyForcibly);
        guest.destroyForcibly();
        Files.delete(disk);
        String printed = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(ended).as(printed).isTrue();
        assertThat(printed)
                .contains(
                        "memory near each device lies on its node",
                        FILE_BYTES + " bytes in 1 extents of namespace 1, controller PENSTOCK",
                        "copied " + FILE_BYTES + " bytes to /tmp/copy, path ",
                        "path HOST, backend nvme",
                        "copied 1024 bytes to /tmp/superblock, path ",
                        "copied by penstock",
                        "host memory of QEMU NVMe Ctrl, 67108864 bytes",
                        "read-only unless asked",
                        "sizes from 512 bytes to 512 KiB",
                        "unaligned edges",
                        "memory of the application",
                        "commands of another submitter",
                        "synced");
        assertThat(printed).contains(isSet(printed, "CONFIG_VFIO_DEVICE_CDEV") ? BY_IOMMUFD : BY_GROUP);
        if (isSet(printed, "CONFIG_VFIO_PCI_DMABUF")) { // from Linux 6.19 on
            assertThat(printed).contains(BETWEEN_CONTROLLERS);
        } else {
            assertThat(printed).contains("a BAR as a dma-buf: ").doesNotContain(BETWEEN_CONTROLLERS);
        }
        assertThat(guest.exitValue()).as(printed).isZero();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aDiskWithoutAPathOrACommandGetsTheUsage() throws IOException, InterruptedException {
        for (List<String> arguments : List.of(List.of(RUN), List.of(RUN, "-d"), List.of(RUN, "-d", "disk"))) {
            Process run =
                    new ProcessBuilder(arguments).redirectErrorStream(true).start();
            assertThat(new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("qemu/run [-d DISK] COMMAND [ARGUMENT...]")
                    .doesNotContain("unbound variable");
            assertThat(run.waitFor()).isEqualTo(2);
        }
    }

    /** Whether an option is set in the configuration of the kernel that has printed its version. */
    private static boolean isSet(String printed, String option) throws IOException {
        Matcher version = Pattern.compile("kernel (\\S+)").matcher(printed);
        assertThat(version.find()).as(printed).isTrue();
        return Files.readAllLines(boot().resolve("config-" + version.group(1))).contains(option + "=y");
    }

    /** A script in place of QEMU prints its second line only once the first has been read. */
    @Test
    void aLineOfTheGuestAppearsBeforeItEnds(@TempDir Path folder) throws IOException {
        Require.backend("guest", refusal());
        Path read = folder.resolve("read");
        Path script = Files.writeString(
                folder.resolve("qemu-system-x86_64"),
                "#!/bin/sh\necho first\nuntil [ -e " + read
                        + " ]; do sleep 0.1; done\necho second\necho 'guest: exit 7'\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        ProcessBuilder command = new ProcessBuilder(RUN, "true").redirectErrorStream(true);
        command.environment().merge("PATH", folder.toString(), (path, first) -> first + ":" + path);
        Process guest = command.start();
        try {
            assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
                assertThat(guest.inputReader().readLine()).isEqualTo("first");
                Files.createFile(read);
                assertThat(guest.inputReader().readLine()).isEqualTo("second");
                assertThat(guest.inputReader().readLine()).isNull();
                assertThat(guest.waitFor()).isEqualTo(7);
            });
        } finally {
            guest.descendants().forEach(ProcessHandle::destroyForcibly);
        }
    }

    private static void makeDisk(Path disk, Path files) throws IOException, InterruptedException {
        try (RandomAccessFile zeros = new RandomAccessFile(disk.toFile(), "rw")) {
            zeros.setLength((long) DISK_MIB << 20);
        }
        Process made = new ProcessBuilder("mkfs.ext4", "-q", "-F", "-d", files.toString(), disk.toString())
                .inheritIO()
                .start();
        assertThat(made.waitFor()).as("mkfs.ext4").isZero();
    }

    private static List<String> command(Path disk, Path file) {
        return List.of(
                RUN,
                "-d",
                disk.toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote", // half of the time of an emulated processor
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                NvmeGuestProgram.class.getName(),
                file.toString());
    }

    private static Path boot() {
        return Path.of(System.getenv().getOrDefault("PENSTOCK_KERNEL", "") + "/boot");
    }

    private static @Nullable String refusal() throws IOException {
        Path boot = boot();
        try (Stream<Path> kernels = Files.isDirectory(boot) ? Files.list(boot) : Stream.empty()) {
            if (kernels.noneMatch(
                    file -> file.getFileName().toString().startsWith("vmlinuz-") && Files.isReadable(file))) {
                return "there is no kernel in " + boot + " that this user can read (Debian: linux-image-amd64)";
            }
        }
        return Stream.of("/usr/bin/qemu-system-x86_64", "/bin/busybox", "/usr/bin/cpio", "/sbin/mkfs.ext4")
                .filter(file -> !Files.isExecutable(Path.of(file)))
                .findFirst()
                .map(file -> "there is no " + file + " (Debian: qemu-system-x86, busybox-static, cpio, e2fsprogs)")
                .orElse(null);
    }
}
