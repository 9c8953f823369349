// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.penstock.backend.cufile.device.GpuMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.WrappedFile;
import io.penstock.engine.testing.Requests;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What an I/O queue finds when it looks, and that it continues from there instead of waiting for what nothing will report
 * it.
 */
class PolledQueueTest {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final long FOR_EVER = -1;

    private final GpuMemory memory = new GpuMemory(null, 0, 4096, () -> {});
    private final Requests requests = new Requests();

    @AfterEach
    void free() {
        memory.free();
    }

    @Test
    void aCompletionBetweenTwoTurnsIsReportedByTheSecond() {
        Scripted queue = new Scripted(Found.NOTHING, Found.END);
        queue.enqueue(write());
        turn(queue);
        assertThat(requests.ended()).isZero();
        turn(queue);
        assertThat(requests.result(0)).isEqualTo(4096);
    }

    @Test
    void aShortCountBetweenTwoTurnsIsContinued() {
        // Found by a build that hung: the first look of a turn took the short count, and the I/O queue slept on the
        // rest.
        Scripted queue = new Scripted(Found.NOTHING, Found.SHORT, Found.END);
        queue.enqueue(write());
        turn(queue);
        turn(queue);
        assertThat(requests.ended()).isZero();
        turn(queue);
        assertThat(requests.result(0)).isEqualTo(4096);
    }

    private void turn(Scripted queue) {
        assertTimeoutPreemptively(LONG, () -> queue.turn(FOR_EVER));
    }

    private Request write() {
        NativeFile unasked = new WrappedFile<>(null, Limits.none(4096)) {};
        return requests.next(0).file(Request.Kind.WRITE, unasked, 0, 4096).memory(memory, 0);
    }

    private enum Found {
        NOTHING,
        SHORT,
        END
    }

    /** Takes one request, and finds what it was told to find, look by look. */
    private static final class Scripted extends PolledQueue {

        private final Deque<Found> script;
        private CallTask task;

        Scripted(Found... script) {
            super(null, new CallQueue(new BlockingCalls(null), 4, 1));
            this.script = new ArrayDeque<>(List.of(script));
        }

        @Override
        protected boolean startWaiting() {
            if (next() == null) {
                return false;
            }
            task = takeNext();
            return true;
        }

        @Override
        protected void poll(boolean suspicious) {
            switch (script.remove()) {
                case NOTHING -> {}
                case SHORT -> {
                    countReleased();
                    again(task);
                }
                case END -> {
                    countReleased();
                    end(task, task.bytes);
                }
            }
        }

        @Override
        protected boolean isInFlight(int tag) {
            return inFlight() > 0;
        }

        @Override
        public void close() {}
    }
}
