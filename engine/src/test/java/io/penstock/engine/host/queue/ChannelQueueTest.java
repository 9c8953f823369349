// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The threads of a queue. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChannelQueueTest {

    @TempDir
    Path directory;

    /** A thread that the system does not permit. */
    private static final class Refused extends Thread {
        @Override
        public synchronized void start() {
            throw new OutOfMemoryError("no thread");
        }
    }

    @Test
    void aRequestForWhichNoThreadStartsFailsAndTheNextTriesAgain() throws IOException {
        AtomicInteger refusals = new AtomicInteger(1);
        ChannelQueue queue = new ChannelQueue(4, 2) {
            @Override
            Thread newThread(Runnable body, String name) {
                return refusals.getAndDecrement() == 1 ? new Refused() : super.newThread(body, name);
            }
        };
        Requests requests = new Requests();
        try (QueueFixture f = QueueFixture.channel(directory)) {
            for (int tag = 0; tag < 2; tag++) {
                queue.enqueue(requests.next(tag).sync(f.file));
                while (requests.ended() <= tag) {
                    queue.turn(1_000_000);
                }
            }
            NativeFailure failure = requests.failure(0).orElseThrow();
            assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.TRANSIENT);
            assertThat(failure.error().symbol()).isEqualTo("java.lang.OutOfMemoryError: no thread");
            assertThat(requests.failure(1)).isEmpty();
            // One thread is there, and a second is not to be had.
            refusals.set(1);
            queue.enqueue(requests.next(2).sync(f.file));
            queue.enqueue(requests.next(3).sync(f.file));
            while (requests.ended() < 4) {
                queue.turn(1_000_000);
            }
            assertThat(requests.failure(3)).isEmpty();
        } finally {
            queue.close();
        }
    }
}
