// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.await;
import static io.penstock.backend.cufile.GpuFixture.content;
import static io.penstock.backend.cufile.GpuFixture.move;
import static io.penstock.backend.cufile.GpuFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.PeerExport;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory of the GPU for other devices; the test plays the other device's driver. */
@ExtendWith(FreshFakes.class)
class PeerExportTest {

    private static final long GPU_PAGE = 64 << 10;

    @TempDir
    Path folder;

    private GpuFixture gpu;

    @BeforeEach
    void start() {
        gpu = new GpuFixture(folder);
    }

    @AfterEach
    void nothingLeaks() {
        gpu.close();
        for (String kind : List.of("contexts", "allocations", "pinned")) {
            await(() -> Fakes.cuda().live(kind) == 0);
        }
    }

    /** Where the fake has the first byte of the dma-buf: its descriptor stands there. */
    private static long position(PeerExport export) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/fdinfo/" + export.descriptor())).stream()
                .filter(line -> line.startsWith("pos:"))
                .mapToLong(line -> Long.parseLong(line.substring(4).strip()))
                .findFirst()
                .orElseThrow();
    }

    private static byte[] asAPeerSeesIt(PeerExport export, int bytes) throws IOException {
        Path descriptor = Path.of("/proc/self/fd/" + export.descriptor());
        try (FileChannel peer = FileChannel.open(descriptor, StandardOpenOption.READ)) {
            byte[] seen = new byte[bytes];
            peer.read(ByteBuffer.wrap(seen), position(export) + export.offset());
            return seen;
        }
    }

    @Test
    void anotherDeviceSeesTheBytesOfABuffer() throws IOException {
        byte[] bytes = random(100_000, 1);
        Backend backend = gpu.backend(CufilePath.STAGED);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        DeviceBuffer buffer = gpu.buffer(backend, bytes.length);
        move(backend, Transfer.read(file.all(), buffer.all()));
        try (PeerExport export = buffer.exportPeer()) {
            assertThat(asAPeerSeesIt(export, bytes.length)).isEqualTo(bytes);
            assertThat(export.bytes() % export.alignment()).isZero();
            assertThat(export.bytes()).isGreaterThanOrEqualTo(export.offset() + bytes.length);
            assertThat(export.pageBytes()).isEqualTo(GPU_PAGE);
            assertThat(export.alignment()).isEqualTo(4096);
        }
        assertThat(content(buffer)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"2097152, 65536", "4096, 4096"})
    void pagesAreNoLargerThanWhatTheDriverAllocatesIn(long granularity, long pages) {
        Fakes.cuda().set("allocation_granularity", granularity);
        DeviceBuffer buffer = gpu.buffer(gpu.backend(CufilePath.STAGED), 4096);
        try (PeerExport export = buffer.exportPeer()) {
            assertThat(export.pageBytes()).isEqualTo(pages);
        }
    }

    @Test
    void aDriverThatIsTooOldToSayHasThePagesOfItsBar() {
        Fakes.cuda().fail("cuMemGetAllocationGranularity", 1, 500);
        DeviceBuffer buffer = gpu.buffer(gpu.backend(CufilePath.STAGED), 4096);
        try (PeerExport export = buffer.exportPeer()) {
            assertThat(export.pageBytes()).isEqualTo(GPU_PAGE);
        }
    }

    @Test
    void required_202_exportedMemoryIsNotFreedAndNotReused() throws IOException {
        byte[] bytes = random(8 << 20, 2);
        Backend backend = gpu.backend(CufilePath.STAGED);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        DeviceBuffer buffer = gpu.buffer(backend, bytes.length);
        move(backend, Transfer.read(file.all(), buffer.all()));
        long address = buffer.nativeHandle();
        PeerExport export = gpu.keep(buffer.exportPeer());
        buffer.close();
        for (int i = 0; i < 8; i++) {
            assertThat(gpu.buffer(backend, bytes.length).nativeHandle()).isNotEqualTo(address);
        }
        assertThat(asAPeerSeesIt(export, bytes.length)).isEqualTo(bytes);
        export.close();
        assertThat(Path.of("/proc/self/fd/" + export.descriptor()))
                .satisfiesAnyOf(
                        path -> assertThat(path).doesNotExist(),
                        path -> assertThat(path.toRealPath()).isNotNull());
    }

    @Test
    void pointersAreOfADeviceOrNot() {
        Backend backend = gpu.backend(CufilePath.STAGED);
        DeviceBuffer buffer = gpu.buffer(backend, 4096);
        assertThat(backend.isDeviceAddress(buffer.nativeHandle())).isTrue();
        assertThat(backend.isDeviceAddress(buffer.nativeHandle() + 4095)).isTrue();
        assertThat(backend.isDeviceAddress(0)).isFalse();
        assertThat(backend.isDeviceAddress(-1)).isFalse();
        assertThat(backend.isDeviceAddress(0x1000)).isFalse();
    }

    @Test
    void aGpuWithoutDmaBufsIsRefusedWithTheReason() {
        Fakes.cuda().set("dma_buf", 0);
        Backend backend = gpu.backend(CufilePath.STAGED);
        try (PeerExport export = gpu.buffer(backend, 4096).exportPeer()) {
            assertThatThrownBy(export::descriptor)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("DMA_BUF_SUPPORTED is 0");
        }
    }
}
