// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Capabilities;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.StreamPlan;
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

    @Test
    void anAllocationForWhichANativeFunctionIsMissingFails() {
        try (Backend backend = open(new Driver())) {
            assertThatThrownBy(() -> backend.allocate(10).block(LONG))
                    .isInstanceOf(UnsatisfiedLinkError.class)
                    .hasMessage("vendorAlloc");
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
