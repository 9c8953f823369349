// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.PeerExport;
import io.penstock.TransferPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the machine's own driver makes of memory for other devices; {@code .ci/gpu run peer} runs this. */
@Tag("gpu") // in a JVM of its own: a process loads one libcuda
class GpuExportTest {

    private static final int BYTES = 8 << 20;

    private Backend backend;

    @BeforeEach
    void open() {
        GpuSubject.require();
        GpuSubject subject = GpuSubject.of(CufilePath.STAGED, TransferPath.STAGED);
        backend = subject.open(subject.options());
    }

    @AfterEach
    void close() {
        if (backend != null) {
            backend.close();
        }
    }

    private DeviceBuffer buffer() {
        return backend.allocate(BYTES).block();
    }

    /** Returns what the kernel reports of an open file, by a name of its own. */
    private static String told(PeerExport export, String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/fdinfo/" + export.descriptor())).stream()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElse("none");
    }

    @Test
    void theDescriptorIsADmaBufOfNvidiasWithTheLengthThatWeTell() throws IOException {
        try (DeviceBuffer buffer = buffer();
                PeerExport export = buffer.exportPeer()) {
            Path descriptor = Path.of("/proc/self/fd/" + export.descriptor());
            assertThat(Files.readSymbolicLink(descriptor).toString()).contains("dmabuf");
            assertThat(told(export, "exp_name")).startsWithIgnoringCase("nv");
            assertThat(told(export, "size")).isEqualTo(Long.toString(export.bytes()));
            assertThat(export.bytes()).isGreaterThanOrEqualTo(export.offset() + BYTES);
            assertThat(export.bytes() % export.alignment()).isZero();
            assertThat(export.pageBytes()).isBetween(4096L, 64L << 10);
        }
    }

    @Test
    void exportedMemoryIsNotReused() {
        DeviceBuffer buffer = buffer();
        long address = buffer.nativeHandle();
        PeerExport export = buffer.exportPeer();
        buffer.close();
        DeviceBuffer[] others = new DeviceBuffer[8];
        for (int i = 0; i < others.length; i++) {
            others[i] = buffer();
            assertThat(others[i].nativeHandle()).isNotEqualTo(address);
        }
        export.close();
        for (DeviceBuffer other : others) {
            other.close();
        }
    }

    @Test
    void pointersOfTheDriverAreDistinguishedFromOthers() {
        try (DeviceBuffer buffer = buffer()) {
            assertThat(backend.isDeviceAddress(buffer.nativeHandle())).isTrue();
            assertThat(backend.isDeviceAddress(buffer.nativeHandle() + BYTES - 1))
                    .isTrue();
            assertThat(backend.isDeviceAddress(0x1000)).isFalse();
        }
    }
}
