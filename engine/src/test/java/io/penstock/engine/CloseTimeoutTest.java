// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static io.penstock.engine.testing.BackendFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;
import reactor.core.scheduler.Schedulers;

/**
 * What belongs to no transfer and does not end: {@code close()} waits for it as for transfers, and then gives it up.
 */
class CloseTimeoutTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Options SHORT = Options.none()
            .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50))
            .resolve(CommonOptions.all());

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));

    private Backend open(Options options) {
        return Engine.open("hanging", device, List.of(device), options);
    }

    private static void assertClosed(CompletableFuture<?> end) {
        assertThat(end).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(ClosedException.class);
    }

    @Test
    void aCloseEndsThoughAllThreadsThatMayBlockAreTaken() {
        Backend backend = open(SHORT);
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE; i++) {
            Schedulers.boundedElastic().schedule(() -> {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        try {
            backend.closeLater().block(LONG);
        } finally {
            release.countDown();
        }
    }

    /** As where the application has shut down Reactor's schedulers, or their queues are full. */
    @Test
    void aCloseFreesAllThoughNoThreadTakesTheCall() {
        Backend backend = open(Options.none().resolve(CommonOptions.all()));
        Schedulers.onScheduleHook("rejects", task -> {
            if (!task.getClass().getName().startsWith(Closing.class.getName())) { // which is the time limit
                throw Exceptions.failWithRejected();
            }
            return task;
        });
        try {
            backend.closeLater().block(LONG);
        } finally {
            Schedulers.resetOnScheduleHook("rejects");
        }
        assertThat(device.closed).isTrue();
    }

    @Test
    void syncsThatDoNotEndAreAbandoned() {
        Backend backend = open(SHORT);
        StorageFile file = Objects.requireNonNull(
                backend.openFile(Path.of("synced"), FileOption.WRITE).block(LONG));
        device.queue.hold = true;
        var first = file.sync().toFuture();
        var behind = file.sync().toFuture(); // not with the device before the first has ended
        await(() -> device.queue.held.size() == 1);
        backend.close();
        assertClosed(first);
        assertClosed(behind);
        device.queue.releaseAll(); // the device releases late: nothing is signalled twice, and all is freed
        await(() -> device.files.values().stream().allMatch(opened -> opened.closed));
    }

    @Test
    void copiesThatDoNotEndAreAbandoned() {
        device.opaque = true; // so that copies go through a bounce buffer, on the I/O queue
        Backend backend = open(SHORT);
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        device.queue.keepsCopies = true;
        List<CompletableFuture<Long>> copies = new ArrayList<>();
        for (int i = 0; i < 2 * device.queue.depth(); i += 2) { // half of them wait for others' tags
            copies.add(buffer.upload(0, ByteBuffer.allocateDirect(100)).toFuture());
            copies.add(buffer.download(0, ByteBuffer.allocateDirect(100)).toFuture());
        }
        await(() -> device.queue.keptCopies.get() == device.queue.depth());
        backend.close();
        copies.forEach(CloseTimeoutTest::assertClosed);
        assertThat(device.freed)
                .as("bounce buffers of those that were not started; the device may still write the others")
                .hasValue(device.queue.depth());
    }

    @Test
    void closeWaitsForACopyInFlight() {
        device.opaque = true;
        Backend backend = open(Options.none().resolve(CommonOptions.all()));
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        device.queue.keepsCopies = true;
        var copy = buffer.upload(0, ByteBuffer.allocateDirect(100)).toFuture();
        await(() -> device.queue.keptCopies.get() == 1);
        var closed = backend.closeLater().toFuture();
        assertThat(device.closed).as("closed beneath the copy").isFalse();
        device.queue.endCopies();
        assertThat(copy).succeedsWithin(LONG);
        assertThat(closed).succeedsWithin(LONG);
        assertThat(device.closed).isTrue();
    }
}
