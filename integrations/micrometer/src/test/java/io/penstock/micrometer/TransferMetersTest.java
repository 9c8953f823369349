// SPDX-License-Identifier: Apache-2.0
package io.penstock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/** Meters of a host backend. */
class TransferMetersTest {

    private static final int SIZE = 50_000;

    @TempDir
    Path folder;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private Backend backend;
    private Disposable binding;
    private Path path;
    private StorageFile file;
    private DeviceBuffer buffer;

    @BeforeEach
    void open() throws IOException {
        backend = Backends.open("host");
        binding = TransferMeters.bind(backend, registry);
        path = Files.write(folder.resolve("data"), new byte[SIZE]);
        file = backend.openFile(path, FileOption.READ, FileOption.WRITE).block();
        buffer = backend.allocate(SIZE).block();
    }

    @AfterEach
    void close() {
        backend.close();
    }

    private double active() {
        return registry.get("penstock.transfers.active")
                .tag("backend", "host")
                .gauge()
                .value();
    }

    @Test
    void transfersAreCountedByOperationPathAndOutcome() {
        backend.submit(Transfer.read(file.all(), buffer.all())).block();
        backend.submit(Transfer.write(buffer.region(0, 1000), file.region(0, 1000)))
                .block();
        backend.stream(StreamPlan.of(path).chunkBytes(10_000), chunk -> Mono.just(chunk.index()))
                .blockLast();
        assertThat(registry.get("penstock.transfers")
                        .tags("backend", "host", "operation", "read", "path", "host", "outcome", "success")
                        .timer()
                        .count())
                .as("with five chunks of a stream")
                .isEqualTo(6);
        assertThat(registry.get("penstock.transfers")
                        .tag("operation", "write")
                        .timer()
                        .totalTime(TimeUnit.NANOSECONDS))
                .isPositive();
        assertThat(registry.get("penstock.transfers.moved")
                        .tag("operation", "read")
                        .counter()
                        .count())
                .isEqualTo(2.0 * SIZE);
        assertThat(registry.get("penstock.transfers.wait")
                        .tag("operation", "write")
                        .timer()
                        .count())
                .isOne();
        assertThat(active()).isZero();
    }

    @Test
    void failuresAndCancelsAreEnds() {
        Transfer read = Transfer.read(file.all(), buffer.all());
        BaseSubscriber<Completion> cancelling = new BaseSubscriber<>() {};
        Mono<Completion> submitted = backend.submit(read);
        submitted.doOnSubscribe(subscription -> cancelling.cancel()).subscribe(cancelling);
        assertThat(registry.get("penstock.transfers.cancelled")
                        .tag("operation", "read")
                        .counter()
                        .count())
                .isOne();
        file.close();
        assertThatThrownBy(submitted::block).isInstanceOf(ClosedException.class);
        assertThat(registry.get("penstock.transfers")
                        .tag("outcome", "closed")
                        .timer()
                        .count())
                .isOne();
        assertThat(registry.find("penstock.transfers.wait").timer().count())
                .as("waits of transfers that were not started")
                .isZero();
        assertThat(active()).isZero();
    }

    @Test
    void tagsAreBoundedAndTheEndOfTheBindingRemovesTheGauge() {
        backend.submit(Transfer.read(file.all(), buffer.all())).block();
        List<Meter> meters = registry.getMeters();
        assertThat(meters)
                .allSatisfy(meter -> assertThat(meter.getId().getTags())
                        .extracting(Tag::getKey)
                        .isSubsetOf(Set.of("backend", "operation", "path", "outcome")));
        binding.dispose();
        backend.submit(Transfer.read(file.all(), buffer.all())).block();
        assertThat(registry.find("penstock.transfers.active").gauge()).isNull();
        assertThat(registry.get("penstock.transfers").timer().count()).isOne();
    }
}
