// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What an I/O queue finds when it looks, and that it continues from there instead of waiting for what nothing will
 * report it.
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

    /** Each look after a nap that found something made the next nap longer, and was as suspicious as if it had not. */
    @Test
    void aCompletionThatIsFoundAfterANapIsProgress() {
        Scripted queue = new Scripted();
        queue.enqueue(write(0));
        queue.enqueue(write(1));
        while (!queue.isSuspicious) {
            turn(queue);
        }
        queue.finds(Found.NOTHING, Found.END);
        turn(queue);
        assertThat(requests.ended()).isOne();
        turn(queue);
        assertThat(queue.isSuspicious).as("although one has just completed").isFalse();
    }

    private void turn(Scripted queue) {
        assertTimeoutPreemptively(LONG, () -> queue.turn(FOR_EVER));
    }

    private Request write() {
        return write(0);
    }

    private Request write(int tag) {
        NativeFile unasked = new WrappedFile<>(null, Limits.none(4096)) {};
        return requests.next(tag).file(Request.Kind.WRITE, unasked, 0, 4096).memory(memory, 0);
    }

    private enum Found {
        NOTHING,
        SHORT,
        END
    }

    /** Finds what it was told to find, look by look, and then nothing. */
    private static final class Scripted extends PolledQueue {

        private final Deque<Found> script = new ArrayDeque<>();
        private final Deque<CallTask> tasks = new ArrayDeque<>();
        private boolean isSuspicious; // when it looked last

        Scripted(Found... script) {
            super(null, new CallQueue(new BlockingCalls(null, CuFile.API), 4, 1));
            finds(script);
        }

        void finds(Found... next) {
            script.addAll(List.of(next));
        }

        @Override
        protected boolean startWaiting() {
            if (next() == null) {
                return false;
            }
            while (next() != null) {
                tasks.add(takeNext());
            }
            return true;
        }

        @Override
        protected void poll(boolean suspicious) {
            isSuspicious = suspicious;
            switch (script.isEmpty() ? Found.NOTHING : script.remove()) {
                case NOTHING -> {}
                case SHORT -> {
                    countReleased();
                    again(tasks.remove());
                }
                case END -> {
                    countReleased();
                    CallTask task = tasks.remove();
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
