// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Capabilities;
import io.penstock.DeviceBuffer;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.tck.Require;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/**
 * Buffers of a device that the processor reaches, but by another number than the device: a mapped buffer of OpenGL is
 * one.
 */
class VisibleDeviceTest {

    private static final int BYTES = 100_000;

    private final byte[] data = new byte[BYTES];

    private Backend device;
    private Backend host;

    @TempDir
    Path folder;

    @BeforeAll
    static void needsUcx() {
        Require.backend("ucx", UcxContext.unavailable());
    }

    @BeforeEach
    void open() {
        device = Engine.open(
                "named", new Named(), List.of(HostPath.open(Options.none(), Slabs.shared())), Options.none());
        host = Backends.open("host");
        for (int i = 0; i < BYTES; i++) {
            data[i] = (byte) (i % 251);
        }
    }

    @AfterEach
    void close() {
        host.close();
        device.close();
    }

    /** Numbers its memory, as OpenGL does. */
    private static final class Named implements DeviceDriver {

        @Override
        public Capabilities capabilities() {
            return new Capabilities(
                    "named memory", true, Set.of(TransferPath.HOST), FenceSupport.HOST_ONLY, true, false, Set.of());
        }

        @Override
        public DeviceMemory allocate(long bytes) {
            return new NamedMemory(Slabs.shared().allocate(bytes));
        }

        @Override
        public void close() {
            Slabs.shared().trim();
        }
    }

    private record NamedMemory(DeviceMemory slab) implements DeviceMemory {

        @Override
        public long bytes() {
            return slab.bytes();
        }

        @Override
        public long nativeHandle() {
            return 1;
        }

        @Override
        public long hostAddress() {
            return slab.hostAddress();
        }

        @Override
        public void free() {
            slab.free();
        }
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    private UcxListener listen(Backend backend) throws IOException {
        return UcxListener.open(backend, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), Options.none());
    }

    private void assertReads(UcxExport export) {
        byte[] read = new byte[BYTES];
        try (StorageFile file = get(host.openFile(export.uri()));
                DeviceBuffer buffer = get(host.allocate(BYTES))) {
            get(host.submit(Transfer.read(file.all(), buffer.all())));
            buffer.hostView().orElseThrow().read(0, ByteBuffer.wrap(read));
        }
        assertThat(read).isEqualTo(data);
    }

    @Test
    void itsBufferIsReadAndWrittenWhereTheProcessorReachesIt() throws IOException {
        try (UcxListener listener = listen(host);
                DeviceBuffer source = get(device.allocate(BYTES));
                UcxExport export = listener.export(source, FileOption.READ, FileOption.WRITE);
                StorageFile file = get(host.openFile(export.uri(), FileOption.WRITE));
                DeviceBuffer bytes = get(host.allocate(BYTES))) {
            bytes.hostView().orElseThrow().write(0, ByteBuffer.wrap(data));
            get(host.submit(Transfer.write(bytes.all(), file.all())));
            byte[] written = new byte[BYTES];
            source.hostView().orElseThrow().read(0, ByteBuffer.wrap(written));
            assertThat(written).isEqualTo(data);
            assertReads(export);
        }
    }

    @Test
    void aFileIsServedThroughItsMemory() throws IOException {
        Path path = Files.write(folder.resolve("data"), data);
        try (UcxListener listener = listen(device);
                StorageFile source = get(device.openFile(path));
                UcxExport export = listener.export(source)) {
            assertReads(export);
        }
    }
}
