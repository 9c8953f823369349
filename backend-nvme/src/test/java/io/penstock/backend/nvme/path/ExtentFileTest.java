// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.nvme.Extent;
import io.penstock.backend.nvme.ExtentMap;
import io.penstock.backend.nvme.ExtentMaps;
import io.penstock.backend.nvme.controller.Namespace;
import io.penstock.backend.nvme.qemu.Ext4Image;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of an ext4, read by their extents from QEMU's controller. */
class ExtentFileTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int BLOCK = 4096;

    @TempDir
    Path scratch;

    @Test
    void aFileIsReadByItsExtentsUntilItsFileSystemChanges() throws IOException {
        Qemu.require();
        try (Ext4Image disk = Ext4Image.of(scratch)) {
            byte[] content = Files.readAllBytes(disk.fragmented("file", 150));
            Path map = scratch.resolve("file.extents");
            ExtentMaps.of(disk.readOnly(), disk.mount().resolve("file")).write(map);
            disk.unmount();
            try (Qemu qemu = Qemu.start("file=" + disk.image() + ",format=raw", "");
                    Backend backend = open(qemu)) {
                try (StorageFile file = backend.openFile(map).block(TIMEOUT)) {
                    assertThat(file.size()).isEqualTo(content.length);
                    check(backend, file, content);
                }
                refusals(backend, map);
                disk.writable();
                disk.unmount();
                assertThatThrownBy(() -> backend.openFile(map).block(TIMEOUT))
                        .hasMessageContaining("the file system has been mounted for writing");
            }
        }
        QtestBus.assertAllFreed();
    }

    private static Backend open(Qemu qemu) {
        return NvmeProvider.open(
                "extents",
                "extents",
                () -> new QtestBus(qemu),
                controller -> new BlockRanges(controller, true, 1 << 20),
                Options.none().resolve(Backends.options()));
    }

    private static void check(Backend backend, StorageFile file, byte[] content) {
        try (DeviceBuffer buffer = backend.allocate(content.length + BLOCK).block(TIMEOUT)) {
            read(backend, file, buffer, content, 0, content.length);
            Random random = new Random(7);
            for (int i = 0; i < 30; i++) { // across extents, at any byte
                int from = random.nextInt(content.length);
                read(backend, file, buffer, content, from, 1 + random.nextInt(content.length - from));
            }
            long atEnd = backend.submit(
                            Transfer.read(file.region(content.length - 10L, BLOCK), buffer.region(0, BLOCK)))
                    .block(TIMEOUT)
                    .bytes();
            assertThat(atEnd).isEqualTo(10);
        }
    }

    private static void read(
            Backend backend, StorageFile file, DeviceBuffer buffer, byte[] content, int from, int length) {
        buffer.upload(0, ByteBuffer.allocateDirect(length + 1)).block(TIMEOUT);
        backend.submit(Transfer.read(file.region(from, length), buffer.region(0, length)))
                .block(TIMEOUT);
        ByteBuffer found = ByteBuffer.allocateDirect(length + 1);
        buffer.download(0, found).block(TIMEOUT);
        assertThat(found.rewind().limit(length))
                .as("%d bytes at %d", length, from)
                .isEqualTo(ByteBuffer.wrap(content, from, length));
        assertThat(found.limit(length + 1).get(length)).as("behind").isZero();
    }

    private void refusals(Backend backend, Path map) throws IOException {
        assertThatThrownBy(() ->
                        backend.openFile(map, FileOption.READ, FileOption.WRITE).block(TIMEOUT))
                .hasMessageContaining("read-only");
        Path other = scratch.resolve("other.extents");
        Files.writeString(other, Files.readString(map).replace("PENSTOCK", "ANOTHER"));
        assertThatThrownBy(() -> backend.openFile(other).block(TIMEOUT))
                .hasMessageContaining("the controller 0000:00:04.0 must have the serial number ANOTHER, has PENSTOCK");
        Files.writeString(other, Files.readString(map).replaceFirst("\n1\n", "\n2\n"));
        assertThatThrownBy(() -> backend.openFile(other).block(TIMEOUT))
                .hasMessageContaining("namespace 2 of 0000:00:04.0 is not active");
        Files.writeString(other, Files.readString(map).replace("\n" + (1024 + Ext4Image.START), "\n" + (1L << 40)));
        assertThatThrownBy(() -> backend.openFile(other).block(TIMEOUT)).hasMessageContaining("NVME_SC_LBA_RANGE");
    }

    /** As the file system's blocks may be: 1 KiB, where the disk was formatted to larger ones since. */
    @Test
    void extentsAreWholeBlocksOfTheNamespace() {
        Namespace space = new Namespace(1, 100, BLOCK);
        Limits limits = new Limits(BLOCK, Integer.BYTES, 1 << 20, 1 << 20, false);
        for (Extent extent :
                List.of(new Extent(0, 1024, BLOCK), new Extent(0, BLOCK, 1024), new Extent(0, 100L * BLOCK, BLOCK))) {
            ExtentMap map = new ExtentMap(1000, "A", 1, 1024, "", List.of(extent));
            assertThatExceptionOfType(FileSystemException.class)
                    .isThrownBy(() -> new ExtentFile("file.extents", map, space, limits))
                    .withMessageContaining("whole blocks of 4096 bytes of a namespace with 409600 bytes");
        }
    }
}
