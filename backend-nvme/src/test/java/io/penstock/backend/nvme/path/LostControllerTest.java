// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.nvme.qemu.FaultyBus;
import io.penstock.backend.nvme.qemu.MemoryDisk;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;

/** A device that is removed while a backend is open. */
class LostControllerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Path NAME = Path.of("0000:00:04.0", "1");

    private NbdDisk disk;
    private Qemu qemu;
    private FaultyBus bus;

    @BeforeEach
    void start() throws IOException {
        disk = new NbdDisk(new MemoryDisk(1 << 20));
        qemu = Qemu.start(disk.drive(), "");
        bus = new FaultyBus(new QtestBus(qemu));
    }

    @AfterEach
    void stop() throws IOException {
        if (qemu != null) {
            disk.close();
            qemu.close();
        }
        QtestBus.assertAllFreed();
    }

    @Test
    void aSyncFailsByTheLossAsTransfersDo() {
        try (Backend backend = QemuProvider.open("lost", () -> bus);
                StorageFile file = backend.openFile(NAME).block(PATIENCE);
                DeviceBuffer memory = backend.allocate(4096).block(PATIENCE)) {
            bus.remove();
            assertThatExceptionOfType(DeviceLostException.class)
                    .isThrownBy(() -> backend.submit(Transfer.read(file.region(0, 4096), memory.all()))
                            .block(PATIENCE));
            for (int i = 0; i < 2; i++) {
                assertThatExceptionOfType(DeviceLostException.class)
                        .isThrownBy(() -> file.sync().block(PATIENCE))
                        .withMessageContaining("ALL_ONES");
            }
        }
    }

    @Test
    void whatCannotBeOpenedIsNamed() {
        try (Backend backend = QemuProvider.open("lost", () -> bus)) {
            assertThat(refusal(backend, Path.of("0000:00:04.0", "9")))
                    .hasMessageStartingWith("0000:00:04.0/9: ")
                    .hasMessageContaining("namespace 9");
            bus.remove();
            assertThat(refusal(backend, NAME))
                    .hasMessageStartingWith(NAME + ": ")
                    .hasMessageContaining("Identify Namespace");
        }
    }

    private static Throwable refusal(Backend backend, Path path) {
        try (StorageFile file = backend.openFile(path, FileOption.READ).block(PATIENCE)) {
            throw new AssertionError(file + " was opened");
        } catch (RuntimeException e) {
            Throwable cause = Exceptions.unwrap(e);
            assertThat(cause).isInstanceOf(FileSystemException.class);
            return cause;
        }
    }
}
