// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class SyncQueueTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    @Test
    void aSyncThatWaitsForAWriteIsSubmittedOnTheQueueThatHasEndedIt() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        device.ioQueues = 2;
        Options options = Options.none().resolve(CommonOptions.all());
        try (Backend backend = Engine.open("fake", device, List.of(device), options)) {
            StorageFile file =
                    Objects.requireNonNull(backend.openFile(Path.of("log"), FileOption.READ, FileOption.WRITE)
                            .block(LONG));
            DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(10).block(LONG));
            device.queue.hold = true;
            var write = backend.submit(Transfer.write(buffer.all(), file.region(0, 10)))
                    .toFuture();
            List<CompletableFuture<Completion>> reads = new ArrayList<>();
            while (reads.stream().noneMatch(CompletableFuture::isDone)) { // until the first queue is behind
                reads.add(backend.submit(Transfer.read(file.region(0, 10), buffer.all()))
                        .toFuture());
                LockSupport.parkNanos(100_000);
            }
            var sync = file.sync().toFuture();
            device.queue.releaseAll();
            assertThat(write).succeedsWithin(LONG);
            assertThat(sync).succeedsWithin(LONG);
        }
        assertThat(device.queues)
                .hasSize(2)
                .allSatisfy(queue -> assertThat(queue.transfers.get()).isPositive());
        assertThat(device.queue.syncs).hasValue(1);
    }
}
