// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PeerExport;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What an export to another device keeps alive. */
class BufferExportTest {

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private Backend backend = open(Duration.ofSeconds(10));

    private Backend open(Duration patience) {
        return Engine.open(
                "fake",
                device,
                List.of(device),
                Options.none().with(CommonOptions.CLOSE_TIMEOUT, patience).resolve(CommonOptions.all()));
    }

    private DeviceBuffer buffer() {
        return Objects.requireNonNull(backend.allocate(4096).block());
    }

    @AfterEach
    void nothingLeaks() {
        backend.close();
        assertThat(device.freed).hasValue(device.allocated.get());
        assertThat(device.exports).hasValue(0);
    }

    @Test
    void required_202_memoryThatIsExportedIsNotFreed() {
        DeviceBuffer buffer = buffer();
        PeerExport export = buffer.exportPeer();
        assertThat(List.of(export.offset(), export.bytes(), export.pageBytes(), export.alignment()))
                .containsExactly(512L, 8192L, 65536L, 4096L);
        assertThat(export.limits("a", "b")).as("limits").containsExactly("a", "b");
        assertThat(export.descriptor()).isEqualTo(33);
        buffer.close();
        assertThat(device.freed).as("freed while another device reaches it").hasValue(0);
        export.close();
        export.close();
        assertThat(device.exports).hasValue(0);
        assertThat(device.freed).hasValue(1);
    }

    /** What a backend made of the application's memory, a registration say, goes when the export does. */
    @Test
    void required_202_wrappedAndExportedMemoryIsNotReleased() {
        ByteBuffer applications = ByteBuffer.allocateDirect(4096);
        DeviceBuffer wrapped = backend.wrap(NativeMemory.address(applications), 4096);
        PeerExport export = wrapped.exportPeer();
        PeerExport another = wrapped.exportPeer();
        wrapped.close();
        assertThat(device.freed).as("freed while other devices may access it").hasValue(0);
        export.close();
        assertThat(device.freed).as("let go while another device reaches it").hasValue(0);
        another.close();
        assertThat(device.freed).hasValue(1);
    }

    @Test
    void aClosedBufferIsNotExported() {
        DeviceBuffer buffer = buffer();
        buffer.close();
        assertThatThrownBy(buffer::exportPeer).isInstanceOf(ClosedException.class);
    }

    @Test
    void required_601_closeWaitsForExportsWhoseDescriptorADriverMayHave() {
        PeerExport export = buffer().exportPeer();
        assertThat(export.descriptor()).isEqualTo(33);
        Mono<Void> closed = backend.closeLater().cache();
        closed.subscribe();
        assertThat(device.freed).as("freed while another device reaches it").hasValue(0);
        Schedulers.boundedElastic().schedule(export::close);
        closed.block(Duration.ofSeconds(20));
        assertThat(device.freed).hasValue(1);
    }

    @Test
    void required_601_closeEndsExportsThatNoDriverHas() {
        PeerExport export = buffer().exportPeer();
        backend.close();
        assertThat(device.exports).hasValue(0);
        export.close();
        assertThat(device.exports).as("closed twice").hasValue(0);
    }

    /** A program may ask for a dma-buf first, and be refused. */
    @Test
    void required_601_closeEndsExportsWhoseDescriptorWasRefused() {
        device.dmaBufs = false;
        PeerExport export = buffer().exportPeer();
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(export::descriptor);
        backend.close();
        assertThat(device.exports).hasValue(0);
    }

    @Test
    void required_601_memoryStillExportedWhenCloseTimesOutIsFreedWhenTheExportIsClosed() {
        backend.close();
        backend = open(Duration.ofMillis(50));
        PeerExport export = buffer().exportPeer();
        assertThat(export.descriptor()).isEqualTo(33);
        backend.close();
        assertThat(device.freed).as("freed while another device reaches it").hasValue(0);
        export.close();
        backend.closeLater().block(Duration.ofSeconds(20));
        long end = System.nanoTime() + 20_000_000_000L;
        while (device.freed.get() == 0) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void hostMemoryHasNoDeviceAddresses() {
        assertThat(backend.isDeviceAddress(0x1000)).isFalse();
        assertThat(backend.isDeviceAddress(-1)).isFalse();
    }
}
