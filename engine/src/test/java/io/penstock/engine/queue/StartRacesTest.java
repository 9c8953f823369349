// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

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
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.resource.Identity;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What other threads do to a transfer while it is on its way to its I/O queue, one interleaving at a time. */
class StartRacesTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private final Backend backend =
            Engine.open("fake", device, List.of(device), Options.none().resolve(CommonOptions.all()));
    private StorageFile file;
    private DeviceBuffer buffer;

    @BeforeEach
    void open() {
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        file = Objects.requireNonNull(
                backend.openFile(PATH, FileOption.READ, FileOption.WRITE).block(LONG));
        buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
    }

    @AfterEach
    void nothingLeaks() {
        backend.close();
        assertThat(device.freed).hasValue(device.allocated.get());
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
    }

    private final class Opened extends OpenTransfer {
        int ends;

        Opened(Transfer transfer) {
            super((Port) backend, transfer);
        }

        @Override
        protected void ended() {
            ends++;
        }
    }

    @Test
    void aTransferWhoseTurnIsReachedBeforeItsQueueHasItStartsOnceAndNotBefore() {
        FakeQueue queue = new FakeQueue();
        queue.hold = true;
        IoQueue ioQueue = new IoQueue(queue, QueueLimits.ofBytes(1 << 20), () -> 0);
        OrderKeys keys = new OrderKeys();
        OrderKeys.Turn first = new OrderKeys.Turn("key", () -> {});
        keys.enter(first);
        Opened second = new Opened(Transfer.read(file.all(), buffer.all()).ordered("key"));
        Admission terms = Objects.requireNonNull(Admission.of(second, ioQueue, null));
        second.admission(terms);
        terms.enter(keys, ioQueue, second);

        keys.leave(first);
        ioQueue.turn(false);
        assertThat(queue.held).as("started before its I/O queue had it").isEmpty();

        second.admit(device, 0, ioQueue);
        ioQueue.accept(second);
        ioQueue.turn(false);
        assertThat(queue.held).hasSize(1);
        second.cancel(); // so that it gives back no pins, which it never took
        assertThat(second.ends).isZero();
        BusyRegions.AbandonedTransfer abandoned = Objects.requireNonNull(
                BusyRegions.ALL.overlapping(Extents.of(Transfer.write(buffer.all(), file.all()), Identity.OF)));
        BusyRegions.ALL.remove(abandoned);
    }

    @Test
    void aRefusedTransferThatIsCancelledGivesBackNothing() {
        StorageFile closed = Objects.requireNonNull(backend.openFile(PATH).block(LONG));
        closed.close();
        for (int i = 0; i < 200; i++) {
            // The refusal is delivered on the scheduler, and so usually later than this cancel.
            backend.submit(Transfer.read(closed.region(0, 100), buffer.all()))
                    .subscribe(done -> {}, refusal -> {})
                    .dispose();
        }
        assertThat(backend.submit(Transfer.read(file.region(0, 0), buffer.region(0, 0)))
                        .block(LONG))
                .as("the I/O queue works")
                .isNotNull();
    }
}
