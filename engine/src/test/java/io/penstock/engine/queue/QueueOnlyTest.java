// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static io.penstock.engine.testing.BackendFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakeQueue;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Rule 301: a native queue is called by its I/O thread only, whichever thread subscribes, cancels or closes. */
class QueueOnlyTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final int READS = 40;

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));

    @Test
    void required_301_theNativeQueueIsCalledOnTheIoQueuesThreadOnly() {
        device.ioQueues = 2;
        Options options = Options.none().resolve(CommonOptions.all());
        try (Backend backend = Engine.open("fake", device, List.of(device), options)) {
            StorageFile file =
                    Objects.requireNonNull(backend.openFile(Path.of("log"), FileOption.READ, FileOption.WRITE)
                            .block(LONG));
            DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(READS).block(LONG));
            for (int i = 0; i < READS; i++) { // so many that each I/O queue gets some
                backend.submit(Transfer.write(buffer.region(0, 1), file.region(0, 1)))
                        .block(LONG);
            }
            file.sync().block(LONG);
            device.queues.forEach(queue -> queue.hold = true);
            List<Disposable> reads = IntStream.range(0, READS)
                    .mapToObj(i -> backend.submit(Transfer.read(file.region(0, 1), buffer.region(i, 1)))
                            .subscribe())
                    .toList();
            await(() -> device.queues.stream().allMatch(queue -> !queue.held.isEmpty()));
            reads.forEach(Disposable::dispose);
            await(() -> device.queues.stream().allMatch(queue -> !queue.cancelled.isEmpty()));
            device.queues.forEach(FakeQueue::releaseAll);
        }
        assertThat(device.queues).hasSize(2).allSatisfy(queue -> {
            assertThat(queue.strangers).isEmpty();
            assertThat(queue.ioQueue()).startsWith("penstock-queue-");
        });
    }
}
