// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Capabilities;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.StreamPlan;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Drivers that throw what they should not. */
class BrokenDriverTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));

    private Backend open(DeviceDriver driver) {
        Options options = Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofSeconds(1));
        return Engine.open("fake", driver, List.of(device), options.resolve(CommonOptions.all()));
    }

    /** Such as OutOfMemoryError, where the system permits no more threads. */
    @Test
    void anErrorOfAQueueClosesWhatIsOpen() {
        FakeDevice refused = new FakeDevice(Limits.none(1 << 20));
        refused.queueRefusal = new OutOfMemoryError("unable to create native thread");
        refused.ioQueues = 2;
        Options options = Options.none().resolve(CommonOptions.all());
        assertThatThrownBy(() -> Engine.open("fake", refused, List.of(device, refused), options))
                .isSameAs(refused.queueRefusal);
        assertThat(refused.closed).as("the driver").isTrue();
        assertThat(device.queue.closed).as("the queue of the other path").isTrue();
    }

    @Test
    void anAllocationForWhichANativeFunctionIsMissingFails() {
        try (Backend backend = open(new Driver())) {
            assertThatThrownBy(() -> backend.allocate(10).block(LONG))
                    .isInstanceOf(UnsatisfiedLinkError.class)
                    .hasMessage("vendorAlloc");
        }
    }

    @Test
    @SuppressWarnings("NullAway")
    void anAllocationThatReturnsNothingFails() {
        try (Backend backend = open(new Driver() {
            @Override
            public DeviceMemory allocate(long bytes) {
                return null;
            }
        })) {
            assertThatThrownBy(() -> backend.allocate(10).block(LONG))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("the driver returned null for the allocation of 10 bytes");
        }
    }

    @Test
    void aStreamAndAWriteForWhoseBuffersANativeFunctionIsMissingFail() {
        Path path = Path.of("model.bin");
        device.files.put(path, device.new MemoryFile(new byte[100]));
        try (Backend backend = open(new Driver())) {
            assertThatThrownBy(() -> backend.stream(StreamPlan.of(path), chunk -> Mono.just(1))
                            .blockLast(LONG))
                    .isInstanceOf(UnsatisfiedLinkError.class)
                    .hasMessage("vendorAlloc");
            ByteBuffer bytes = ByteBuffer.allocate(10);
            assertThatThrownBy(() -> backend.write(path, Flux.just(bytes)).block(LONG))
                    .isInstanceOf(UnsatisfiedLinkError.class)
                    .hasMessage("vendorAlloc");
        }
    }

    @Test
    void aStreamWhoseMemoryCannotBeFreedEnds() {
        Path path = Path.of("model.bin");
        device.files.put(path, device.new MemoryFile(new byte[100]));
        Backend backend = open(new Driver() {
            @Override
            public DeviceMemory allocate(long bytes) {
                return new Unfreeable((HostMemory) device.allocate(bytes));
            }
        });
        assertThat(backend.stream(StreamPlan.of(path).chunkBytes(10), chunk -> Mono.just(1))
                        .count()
                        .block(LONG))
                .isEqualTo(10);
        assertThat(backend.counters().buffers()).isZero();
        backend.close();
    }

    /** Memory that a driver fails to free. */
    private record Unfreeable(HostMemory memory) implements HostMemory {

        @Override
        public ByteBuffer buffer(long offset, int length) {
            return memory.buffer(offset, length);
        }

        @Override
        public long bytes() {
            return memory.bytes();
        }

        @Override
        public long hostAddress() {
            return memory.hostAddress();
        }

        @Override
        public void free() {
            memory.free();
            throw new UnsatisfiedLinkError("vendorFree");
        }
    }

    @Test
    void aDriverThatFailsToCloseFailsTheClose() {
        Backend backend = open(new Driver() {
            @Override
            public void close() {
                throw new IllegalStateException("vendorClose");
            }
        });
        assertThatThrownBy(backend::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("vendorClose");
        assertThat(device.queue.closed).isTrue();
    }

    /** The device's facts, without its memory. */
    private class Driver implements DeviceDriver {

        @Override
        public Capabilities capabilities() {
            return device.capabilities();
        }

        @Override
        public DeviceMemory allocate(long bytes) {
            throw new UnsatisfiedLinkError("vendorAlloc");
        }
    }
}
