// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PenstockException;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakeDevice.MemoryFile;
import io.penstock.engine.FakePort;
import io.penstock.engine.FakeQueue;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whom a message to an I/O queue that the test turns wakes: a wake of an I/O queue that waits is a system call. */
class QueueWakesTest {

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private final MemoryFile file = device.new MemoryFile(new byte[100]);
    private final FakeQueue queue = new FakeQueue();
    private final IoQueue ioQueue = new IoQueue(queue, QueueLimits.ofBytes(1 << 20), () -> 0);
    private final List<String> seen = new ArrayList<>();

    private record Sync(MemoryFile file, Runnable then) implements SingleRequest {

        @Override
        public void fill(Request request) {
            request.sync(file);
        }

        @Override
        public void ended(@Nullable NativeFailure failure) {
            then.run();
        }

        @Override
        public Port owner() {
            return new FakePort(0);
        }

        @Override
        public String description() {
            return "sync";
        }

        @Override
        public void lose(PenstockException why) {
            throw why;
        }

        @Override
        public void refuse(PenstockException why) {
            throw why;
        }
    }

    @BeforeEach
    void isTurnedHere() {
        ioQueue.runHere();
    }

    @Test
    void aMessageToItselfDuringCompletionsWakesNothingAndIsHandledNext() {
        ioQueue.start(new Sync(file, () -> ioQueue.post(() -> seen.add("posted"))));
        ioQueue.turn(true);
        assertThat(seen).isEmpty();
        assertThat(queue.wakes).hasValue(0);
        ioQueue.turn(false); // which looks for messages first
        assertThat(seen).containsExactly("posted");
        assertThat(queue.wakes).hasValue(0);
    }

    @Test
    void aMessagePostedDuringATurnWakesNothingAndIsHandledNext() {
        ioQueue.start(new Sync(file, () -> fromAnother(() -> seen.add("posted"))));
        ioQueue.turn(true);
        assertThat(queue.wakes).hasValue(0);
        ioQueue.turn(false);
        assertThat(seen).containsExactly("posted");
    }

    @Test
    void aMessageToItselfBeforeTheReportKeepsTheQueueFromWaiting() {
        queue.beforeWait = () -> ioQueue.post(() -> seen.add("posted"));
        ioQueue.turn(true); // would wait for ever
        assertThat(queue.wakes).hasValue(0);
        ioQueue.turn(false);
        assertThat(seen).containsExactly("posted");
    }

    @Test
    void aMessagePostedDuringAWaitWakesTheQueueOnce() {
        queue.whileWaiting = () -> {
            fromAnother(() -> seen.add("first"));
            fromAnother(() -> seen.add("second"));
        };
        ioQueue.turn(true); // would wait for ever
        assertThat(queue.wakes).hasValue(1);
        ioQueue.turn(false);
        assertThat(seen).containsExactly("first", "second");
    }

    private void fromAnother(Runnable action) {
        Thread other = new Thread(() -> ioQueue.post(action));
        other.start();
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Where each request takes a thread, those beyond the threads would wait while other I/O queues have idle ones. */
    @Test
    void aQueueWithMoreInFlightThanItExecutesAtATimeIsBehind() {
        queue.parallelism = 2;
        queue.hold = true;
        IoQueue narrow = new IoQueue(queue, QueueLimits.ofBytes(1 << 20), System::nanoTime);
        List<Boolean> behind = new ArrayList<>();
        for (int inFlight = 0; inFlight <= 3; inFlight++) {
            narrow.turn(false);
            behind.add(narrow.isBehind());
            narrow.start(new Sync(file, () -> {}));
        }
        assertThat(behind).containsExactly(false, false, false, true);
    }
}
