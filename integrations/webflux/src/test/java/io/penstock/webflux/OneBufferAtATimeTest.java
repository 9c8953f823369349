// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Chunk;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import reactor.util.context.Context;

/**
 * A buffer is requested when the buffer before has been copied, also if a publisher emits on a thread of its own at
 * once.
 */
class OneBufferAtATimeTest {

    private static final Duration LONG_ENOUGH = Duration.ofSeconds(2); // the race was lost within a tenth of one
    private static final int MOST_TURNS = 400;
    private static final int BYTES = 2;

    private final AtomicInteger early = new AtomicInteger();
    private final AtomicReference<@Nullable ChunkFiller> requesting = new AtomicReference<>();
    private volatile DataBuffer last = buffer();
    private volatile boolean over;

    private static DataBuffer buffer() {
        return DefaultDataBufferFactory.sharedInstance.wrap(new byte[1]);
    }

    /** Emits a buffer for each request, at once. */
    private void emit() {
        DataBuffer next = buffer();
        while (!over) {
            ChunkFiller to = requesting.getAndSet(null);
            if (to == null) {
                Thread.onSpinWait();
                continue;
            }
            last = next;
            to.onNext(next);
            next = buffer();
        }
    }

    private final class Requests implements Subscription {

        private @Nullable ChunkFiller by;

        @Override
        public void request(long buffers) {
            if (last.readableByteCount() > 0) {
                early.incrementAndGet();
            }
            requesting.set(Objects.requireNonNull(by));
            int turns = ThreadLocalRandom.current().nextInt(MOST_TURNS);
            while (turns > 0 && !over) {
                turns--; // so that this thread meets the buffer at any point of its next turn
            }
        }

        @Override
        public void cancel() {
            // emits what was requested
        }
    }

    @Test
    void noBufferIsRequestedWhileAnotherOneWaits() throws InterruptedException {
        last.readPosition(1); // as one that has been copied
        Thread publisher = new Thread(this::emit, "publisher");
        publisher.start();
        Chunk chunk = FakeChunk.of(BYTES);
        long end = System.nanoTime() + LONG_ENOUGH.toNanos();
        int uploads = 0;
        for (; early.get() == 0 && System.nanoTime() < end; uploads++) {
            Requests requests = new Requests();
            ChunkFiller filler = new ChunkFiller(to -> to.onSubscribe(requests), Context.empty());
            requests.by = filler;
            assertThat(filler.fill(chunk).block(Duration.ofSeconds(10))).isEqualTo(BYTES);
            filler.close();
        }
        over = true;
        publisher.join();
        assertThat(early).as("buffers requested early, by %s uploads", uploads).hasValue(0);
    }
}
