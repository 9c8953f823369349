// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.WrappedFile;
import io.penstock.engine.testing.Requests;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A queue whose calls throw. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallQueueTest {

    private static final int COMMANDS = 300;

    private static final class Throwing extends BlockingCalls {

        Throwing() {
            super(null);
        }

        @Override
        void run(CallTask task) {
            throw new IllegalStateException("request " + task.tag);
        }

        @Override
        public void close() {}
    }

    @Test
    void required_401_eachOfManyFailuresKeepsItsOwnCause() {
        CallQueue queue = new CallQueue(new Throwing(), COMMANDS, 1);
        NativeFile unasked = new WrappedFile<>(null, Limits.none(4096)) {};
        Requests requests = new Requests();
        for (int tag = 0; tag < COMMANDS; tag++) {
            queue.enqueue(requests.next(tag).sync(unasked));
        }
        while (requests.ended() < COMMANDS) {
            queue.turn(-1);
        }
        for (int tag = 0; tag < COMMANDS; tag++) {
            assertThat(requests.failure(tag).orElseThrow().error().symbol())
                    .isEqualTo("java.lang.IllegalStateException: request " + tag);
        }
        queue.close();
    }

    /** As where the system permits no more threads. */
    @Test
    void aRequestForWhichNoThreadStartsFailsAndTheNextTriesAgain() {
        AtomicInteger refusals = new AtomicInteger(1);
        CallQueue queue = new CallQueue(new Throwing(), 4, 2) {
            @Override
            Thread newThread(Runnable body, String name) {
                return refusals.getAndDecrement() == 1 ? new Refused() : super.newThread(body, name);
            }
        };
        NativeFile unasked = new WrappedFile<>(null, Limits.none(4096)) {};
        Requests requests = new Requests();
        for (int tag = 0; tag < 2; tag++) {
            queue.enqueue(requests.next(tag).sync(unasked));
            while (requests.ended() <= tag) {
                queue.turn(-1);
            }
        }
        NativeFailure failure = requests.failure(0).orElseThrow();
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.TRANSIENT);
        assertThat(failure.error().symbol()).isEqualTo("java.lang.OutOfMemoryError: no thread");
        assertThat(requests.failure(1).orElseThrow().error().symbol()).endsWith("request 1");
        // One thread is there, and a second is not to be had.
        refusals.set(1);
        queue.enqueue(requests.next(2).sync(unasked));
        queue.enqueue(requests.next(3).sync(unasked));
        while (requests.ended() < 4) {
            queue.turn(-1);
        }
        assertThat(requests.failure(3).orElseThrow().error().symbol()).endsWith("request 3");
        queue.close();
    }

    /** A thread that the system does not permit. */
    private static final class Refused extends Thread {
        @Override
        public synchronized void start() {
            throw new OutOfMemoryError("no thread");
        }
    }
}
