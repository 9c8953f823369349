// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Schedulers that reject tasks, as where the application has shut them down: every publisher ends all the same. */
class RejectedTasksTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final String HOOK = "rejects";

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));

    @AfterEach
    void reset() {
        Schedulers.resetOnScheduleHook(HOOK);
    }

    private Backend open(Options options) {
        return Engine.open("rejected", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    private static void rejectAll() {
        Schedulers.onScheduleHook(HOOK, task -> {
            throw Exceptions.failWithRejected();
        });
    }

    private static StorageFile file(Backend backend) {
        return Objects.requireNonNull(
                backend.openFile(Path.of("file"), FileOption.WRITE).block(LONG));
    }

    @Test
    void aRefusedTransferEndsWithItsError() {
        for (CommonOptions.Delivery delivery : CommonOptions.Delivery.values()) {
            try (Backend backend = open(Options.none().with(CommonOptions.DELIVERY, delivery))) {
                DeviceBuffer buffer =
                        Objects.requireNonNull(backend.allocate(100).block(LONG));
                Transfer transfer = Transfer.write(buffer.all(), file(backend).region(0, 100));
                buffer.close();
                rejectAll();
                assertThat(backend.submit(transfer).toFuture())
                        .as("%s", delivery)
                        .failsWithin(LONG)
                        .withThrowableThat()
                        .withCauseInstanceOf(ClosedException.class);
                assertThat(backend.submit(Flux.just(transfer)).then().toFuture())
                        .as("one of several, %s", delivery)
                        .failsWithin(LONG);
                reset();
            }
        }
    }

    @Test
    void aCloseGivesUpWhatDoesNotEnd() {
        Backend backend = open(Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50)));
        StorageFile file = file(backend);
        device.queue.hold = true;
        var sync = file.sync().toFuture();
        rejectAll();
        assertThat(backend.closeLater().toFuture()).succeedsWithin(LONG);
        assertThat(sync).failsWithin(LONG);
        device.queue.releaseAll();
    }
}
