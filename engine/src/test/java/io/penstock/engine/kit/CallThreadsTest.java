// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The threads of queues that make blocking calls. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallThreadsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** What is to happen, and what has. */
    private static final class Call {
        final @Nullable Throwable thrown;
        volatile @Nullable Thread thread;
        volatile @Nullable Throwable failure;

        Call(@Nullable Throwable thrown) {
            this.thrown = thrown;
        }
    }

    /** A thread that the system does not permit. */
    private static final class Refused extends Thread {
        @Override
        public synchronized void start() {
            throw new OutOfMemoryError("no thread");
        }
    }

    private final CountDownLatch go = new CountDownLatch(1);
    private final List<Thread> started = new ArrayList<>();
    private int refusals;

    private final CallThreads<Call> threads = new Threads(new Calls());

    private final class Calls implements CallThreads.Calls<Call> {
        @Override
        public void make(Call call) throws Exception {
            call.thread = Thread.currentThread();
            if (call.thrown instanceof Error error) {
                throw error;
            } else if (call.thrown instanceof Exception exception) {
                throw exception;
            }
            go.await();
        }

        @Override
        public void fail(Call call, Throwable cause) {
            call.failure = cause;
        }
    }

    private final class Threads extends CallThreads<Call> {
        Threads(CallThreads.Calls<Call> calls) {
            super("test-", 2, 8, new Wakeup(), calls);
        }

        @Override
        protected Thread newThread(String name, Runnable body) {
            if (refusals > 0) {
                refusals--;
                return new Refused();
            }
            Thread thread = super.newThread(name, body);
            started.add(thread);
            return thread;
        }
    }

    @AfterEach
    void close() throws InterruptedException {
        go.countDown();
        threads.close();
        for (Thread thread : started) {
            thread.join();
        }
    }

    private Call begin(@Nullable Throwable thrown) {
        Call call = new Call(thrown);
        threads.begin(call);
        return call;
    }

    private Call next() {
        long until = System.nanoTime() + PATIENCE.toNanos();
        Call call = threads.poll();
        while (call == null) {
            long left = until - System.nanoTime();
            assertThat(left).as("waits in vain").isPositive();
            threads.wakeup().await(left);
            call = threads.poll();
        }
        return call;
    }

    @Test
    void aCallForWhichNoThreadStartsFailsAndTheNextTriesAgain() {
        go.countDown();
        refusals = 1;
        Call refused = begin(null);
        assertThat(next()).isSameAs(refused);
        assertThat(refused.failure).isInstanceOf(OutOfMemoryError.class);
        assertThat(refused.thread).isNull();
        Call next = begin(null);
        assertThat(next()).isSameAs(next);
        assertThat(next.failure).isNull();
    }

    @Test
    void aThreadDoesTheWorkOfOneThatTheSystemDoesNotPermit() {
        Call first = begin(null);
        refusals = 1;
        Call second = begin(null);
        go.countDown();
        assertThat(List.of(next(), next())).containsExactlyInAnyOrder(first, second);
        assertThat(second.failure).isNull();
        assertThat(second.thread).isSameAs(first.thread);
    }

    @Test
    void whateverACallThrowsIsItsFailureAndTheThreadWorksOn() {
        for (Throwable thrown :
                List.of(new IOException("refused"), new IllegalStateException(), new StackOverflowError())) {
            Call call = begin(thrown);
            assertThat(next()).isSameAs(call);
            assertThat(call.failure).isSameAs(thrown);
        }
        assertThat(started).hasSize(1);
    }

    @Test
    void aCallThatNoThreadHasBegunIsWithdrawnAndEndsOnce() {
        begin(null);
        begin(null);
        Call waiting = begin(null);
        assertThat(threads.withdraw(waiting)).isTrue();
        assertThat(threads.poll()).isSameAs(waiting);
        assertThat(threads.withdraw(waiting)).isFalse();
        assertThat(waiting.thread).isNull();
        assertThat(started).hasSize(2);
    }
}
