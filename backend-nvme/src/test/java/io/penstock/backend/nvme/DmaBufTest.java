// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.Backend;
import io.penstock.Capabilities;
import io.penstock.DeviceBuffer;
import io.penstock.FenceSupport;
import io.penstock.Options;
import io.penstock.PeerExport;
import io.penstock.PermanentStorageException;
import io.penstock.backend.nvme.bus.DmaMapping;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Memory of a device, which a queue pair maps by the dma-buf that the device's backend exports. */
class DmaBufTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int DESCRIPTOR = 44;
    private static final long OFFSET = 8704;
    private static final long BUS_ADDRESS = 0x1_0000_0200L;
    private static final long HANDLE = 0x7000_0000L;

    private final List<String> events = new CopyOnWriteArrayList<>();
    private EmulatedController emulated;
    private Controller controller;
    private QueuePairHandle pair;

    @BeforeEach
    void require() {
        Submitter.require();
    }

    private void open(EmulatedController bus) throws IOException {
        emulated = bus;
        controller = Controller.open("dma-buf", () -> bus, PATIENCE);
        pair = QueuePairHandle.open(controller::join, 4, 0).block(PATIENCE);
    }

    @AfterEach
    void end() throws IOException {
        if (emulated == null) {
            return;
        }
        try {
            if (pair != null) {
                closePair();
            }
            if (controller != null) {
                controller.leave();
            }
            assertThat(emulated.live()).as("memory for DMA").isZero();
        } finally {
            emulated.end();
        }
    }

    private void closePair() {
        pair.close();
        pair.released().block(PATIENCE);
    }

    /** A bus that maps every dma-buf. */
    private final class MappingBus extends EmulatedController {

        MappingBus(Path program) throws IOException {
            super(program, "shadow");
        }

        @Override
        public DmaMapping mapDmaBuf(int descriptor, long offset, long bytes) {
            events.add("mapped " + descriptor + " " + offset + " " + bytes);
            return new DmaMapping() {

                @Override
                public long busAddress() {
                    return BUS_ADDRESS;
                }

                @Override
                public void free() {
                    events.add("unmapped");
                }
            };
        }
    }

    @Test
    void memoryOfADeviceStaysMappedUntilTheQueuesAreDeleted() throws IOException {
        open(new MappingBus(Submitter.program("controller")));
        try (Backend gpu = Engine.open("gpu", new Gpu(), List.of(), Options.none())) {
            DeviceBuffer buffer = gpu.allocate(3000).block(PATIENCE);
            assertThat(pair.map(buffer)).isEqualTo(new DmaRange(HANDLE, BUS_ADDRESS, 3000));
            buffer.close();
            assertThat(events).containsExactly("mapped 44 8704 3000");
            closePair();
        }
        assertThat(events).containsExactly("mapped 44 8704 3000", "unmapped", "export closed", "freed");
    }

    @Test
    void aBusThatMapsNoDmaBufLeavesTheBufferToItsBackend() throws IOException {
        open(new EmulatedController(Submitter.program("controller"), "shadow"));
        try (Backend gpu = Engine.open("gpu", new Gpu(), List.of(), Options.none())) {
            DeviceBuffer buffer = gpu.allocate(3000).block(PATIENCE);
            assertThatExceptionOfType(PermanentStorageException.class)
                    .isThrownBy(() -> pair.map(buffer))
                    .withMessage("mapping of a dma-buf for DMA by 0000:00:05.0 failed: only iommufd maps one, and it is"
                            + " not used. Limits of this machine: a limit for 0000:00:05.0");
            assertThat(events).containsExactly("export closed");
            buffer.close();
        }
        assertThat(events).containsExactly("export closed", "freed");
    }

    /** A device whose memory the processor does not reach. */
    private final class Gpu implements DeviceDriver {

        @Override
        public Capabilities capabilities() {
            return new Capabilities("a GPU", false, Set.of(), FenceSupport.HOST_ONLY, false, false, Set.of());
        }

        @Override
        public DeviceMemory allocate(long bytes) {
            return new Vram(bytes, events);
        }
    }

    private record Vram(long bytes, List<String> events) implements DeviceMemory {

        @Override
        public long nativeHandle() {
            return HANDLE;
        }

        @Override
        public long hostAddress() {
            return 0;
        }

        @Override
        public PeerExport exportPeer() {
            return new Export(DESCRIPTOR, OFFSET, bytes, 4096, 4096, Mono.empty(), events);
        }

        @Override
        public void free() {
            events.add("freed");
        }
    }

    private record Export(
            int descriptor,
            long offset,
            long bytes,
            long pageBytes,
            long alignment,
            Mono<Void> released,
            List<String> events)
            implements PeerExport {

        @Override
        public List<String> limits(String... importers) {
            return List.of("a limit for " + String.join(", ", importers));
        }

        @Override
        public void close() {
            events.add("export closed");
        }
    }
}
