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

/** Whom a message to a lane that the test turns wakes: a wake of a lane that waits is a system call. */
class LaneWakesTest {

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private final MemoryFile file = device.new MemoryFile(new byte[100]);
    private final FakeQueue queue = new FakeQueue();
    private final Lane lane = new Lane(queue, LaneLimits.ofBytes(1 << 20), () -> 0);
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
        public Port port() {
            return new FakePort(0);
        }

        @Override
        public String asked() {
            return "sync";
        }

        @Override
        public void lose(PenstockException why) {
            throw why;
        }
    }

    @BeforeEach
    void isTurnedHere() {
        lane.runHere();
    }

    @Test
    void whatItTellsItselfWhileItSeesCompletionsWakesNobodyAndIsDoneNext() {
        lane.start(new Sync(file, () -> lane.post(() -> seen.add("posted"))));
        lane.turn(true);
        assertThat(seen).isEmpty();
        assertThat(queue.wakes).hasValue(0);
        lane.turn(false); // which looks for messages first
        assertThat(seen).containsExactly("posted");
        assertThat(queue.wakes).hasValue(0);
    }

    @Test
    void whatAnotherThreadTellsItMeanwhileWakesIt() {
        lane.start(new Sync(file, () -> fromAnother(() -> seen.add("posted"))));
        lane.turn(true);
        assertThat(queue.wakes).hasValue(1);
        lane.turn(false);
        assertThat(seen).containsExactly("posted");
    }

    @Test
    void whatItTellsItselfBeforeItsQueueHasReportedKeepsTheQueueFromWaiting() {
        queue.beforeWait = () -> lane.post(() -> seen.add("posted"));
        lane.turn(true); // would wait for ever
        assertThat(queue.wakes).hasValue(1);
        lane.turn(false);
        assertThat(seen).containsExactly("posted");
    }

    private void fromAnother(Runnable action) {
        Thread other = new Thread(() -> lane.post(action));
        other.start();
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
