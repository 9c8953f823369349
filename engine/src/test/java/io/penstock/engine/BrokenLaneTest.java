// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.FakeDevice.MemoryFile;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What a bug on a lane does to those who wait; apart, because its file and memory stay open by rule 601. */
class BrokenLaneTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("broken.bin");

    @Test
    void aLaneThatBreaksTellsEverySubscriber() {
        FakeDevice broken = new FakeDevice(Limits.none(1 << 20));
        Backend other = Engine.open(
                "broken",
                broken,
                List.of(broken),
                Options.none()
                        .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
                        .resolve(CommonOptions.all()));
        broken.files.put(PATH, broken.new MemoryFile(new byte[100]));
        StorageFile file = Objects.requireNonNull(other.openFile(PATH).block(LONG));
        DeviceBuffer buffer = Objects.requireNonNull(other.allocate(100).block(LONG));
        broken.queue.hold = true;
        Mono<Completion> read = other.submit(Transfer.read(file.all(), buffer.all()));
        StepVerifier.create(Mono.zipDelayError(read, read.doOnSubscribe(s -> broken.queue.breakWith("a bug"))))
                .expectErrorSatisfies(e -> assertThat(Exceptions.unwrapMultiple(e))
                        .hasSize(2)
                        .allMatch(io.penstock.DeviceLostException.class::isInstance))
                .verify(LONG);
        StepVerifier.create(read)
                .expectError(io.penstock.DeviceLostException.class)
                .verify(LONG);
        assertThat(broken.freed).hasValue(0);
        file.close();
        other.close();
    }
}
