// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakePort;
import io.penstock.engine.FakeQueue;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How an I/O queue that the test turns tells operators of what has ended, and what they may do then. */
class QueueNewsTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private final Backend backend =
            Engine.open("fake", device, List.of(device), Options.none().resolve(CommonOptions.all()));
    private final FakeQueue queue = new FakeQueue();
    private final IoQueue ioQueue = new IoQueue(queue, QueueLimits.ofBytes(1 << 20), () -> 0);
    private final Port port = new FakePort(0); // not the backend: these transfers hold no pins to give back
    private final Deliveries deliveries = new Deliveries();
    private final List<Opened> ended = new ArrayList<>();
    private Transfer transfer;

    @BeforeEach
    void open() {
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        StorageFile file = Objects.requireNonNull(backend.openFile(PATH).block(LONG));
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
        transfer = Transfer.read(file.all(), buffer.all());
    }

    @AfterEach
    void close() {
        backend.close();
    }

    private final class Opened extends OpenTransfer {

        Opened() {
            super(port, transfer);
        }

        @Override
        protected void ended() {
            throw new AssertionError("outside a turn");
        }

        @Override
        public void ended(IoQueue turning) {
            assertThat(turning).isSameAs(ioQueue);
            ended.add(this);
            turning.signalLater(deliveries);
        }
    }

    private final class Deliveries extends DeliveryLoop {

        private final List<Integer> seen = new ArrayList<>();
        private Runnable then = () -> {};

        Deliveries() {
            super(null);
        }

        @Override
        protected void turn() {
            seen.add(ended.size());
            then.run();
        }

        @Override
        protected void rejected(RejectedExecutionException cause) {
            throw new AssertionError(cause);
        }

        @Override
        protected void crashed(Throwable cause) {
            throw new AssertionError(cause);
        }
    }

    private void accept() {
        Opened open = new Opened();
        open.admit(device, 0, ioQueue);
        ioQueue.accept(open);
    }

    @Test
    void severalTransfersThatEndInOneTurnAreSignalledOnce() {
        accept();
        accept();
        accept();
        ioQueue.turn(false);
        assertThat(deliveries.seen).as("transfers that had ended, by delivery").containsExactly(3);
        ioQueue.turn(false);
        assertThat(deliveries.seen).as("signalled again, with nothing").hasSize(1);
    }

    @Test
    void aTransferSubmittedByADeliveryStartsInTheNextTurnAndUntilThenTheQueueIsNotIdle() {
        ioQueue.runHere();
        deliveries.then = () -> {
            if (ended.size() == 1) {
                accept();
            }
        };
        accept();
        ioQueue.turn(false);
        assertThat(ended).hasSize(1);
        assertThat(ioQueue.isIdle()).as("idle while a transfer waits").isFalse();
        ioQueue.turn(true); // does not wait: nothing would wake it
        assertThat(ended).hasSize(2);
        assertThat(ioQueue.isIdle()).isTrue();
    }

    @Test
    void aBrokenQueueStillReportsCompletedTransfers() {
        accept();
        queue.hold = true;
        ioQueue.turn(false);
        queue.releaseAll();
        queue.breakWith("a bug");
        assertThatThrownBy(() -> ioQueue.turn(false)).hasMessage("a bug");
        assertThat(ended).hasSize(1);
        assertThat(deliveries.seen).isEmpty();
        ioQueue.breakDown(new IllegalStateException("a bug"));
        assertThat(deliveries.seen).containsExactly(1);
    }
}
