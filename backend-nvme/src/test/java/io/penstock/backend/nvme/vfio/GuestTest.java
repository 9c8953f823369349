// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import io.penstock.Backend;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.engine.Engine;
import io.penstock.engine.testing.ClassPath;
import io.penstock.tck.Require;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import reactor.core.publisher.Flux;

/** A guest with an IOMMU, in which this backend drives QEMU's controller by VFIO: {@code qemu/run}. */
@Tag("once")
class GuestTest {

    private static final long PATIENCE_SECONDS = 180;

    @Test
    @Timeout(value = 4, unit = TimeUnit.MINUTES) // an emulated processor
    void aGuestDrivesItsControllerByVfio() throws IOException, InterruptedException {
        Qemu.require();
        Require.backend("guest", refusal());
        Path output = Files.createTempFile("penstock", ".guest");
        List<String> command = List.of(
                Path.of("qemu", "run").toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote", // half of the time of an emulated processor
                "-cp",
                classPath(),
                GuestProgram.class.getName());
        Process guest = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = guest.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        guest.descendants().forEach(ProcessHandle::destroyForcibly);
        guest.destroyForcibly();
        String printed = Files.readString(output, StandardCharsets.UTF_8);
        Files.delete(output);
        assertThat(ended).as(printed).isTrue();
        assertThat(printed)
                .contains(
                        "host memory of QEMU NVMe Ctrl, 67108864 bytes",
                        "read-only unless asked",
                        "sizes from 512 bytes to 512 KiB",
                        "unaligned edges",
                        "memory of the application",
                        "commands of another submitter",
                        "synced");
        assertThat(guest.exitValue()).as(printed).isZero();
    }

    private static String classPath() {
        return ClassPath.of(
                GuestProgram.class,
                NvmeOptions.class,
                Backend.class,
                Engine.class,
                TckSubject.class,
                Flux.class,
                MpscUnboundedVarHandleArrayQueue.class,
                MessagePassingQueue.class,
                Publisher.class,
                Native.class,
                Logger.class);
    }

    private static @Nullable String refusal() throws IOException {
        Path boot = Path.of("/boot");
        try (Stream<Path> kernels = Files.isDirectory(boot) ? Files.list(boot) : Stream.empty()) {
            if (kernels.noneMatch(
                    file -> file.getFileName().toString().startsWith("vmlinuz-") && Files.isReadable(file))) {
                return "there is no kernel in /boot that this user can read (Debian: linux-image-amd64)";
            }
        }
        return Stream.of("/bin/busybox", "/usr/bin/cpio").allMatch(file -> Files.isExecutable(Path.of(file)))
                ? null
                : "there is no busybox, or no cpio (Debian: busybox-static, cpio)";
    }
}
