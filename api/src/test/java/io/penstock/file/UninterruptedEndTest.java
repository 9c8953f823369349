// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.NoSuchFileException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Who receives the end of a blocking call, on its thread, is not interrupted: Tomcat, for one, closes such a
 * connection.
 */
class UninterruptedEndTest {

    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch subscribed = new CountDownLatch(1);
    private Schedulers.Snapshot usual;

    /** A thread whose tasks have delivered their end before the submitters learn of the tasks' futures. */
    private final class FastThread extends ThreadPoolExecutor {
        FastThread() {
            super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        public <T> Future<T> submit(Callable<T> task) {
            Future<T> submitted = super.submit(task);
            try {
                ended.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return submitted;
        }
    }

    @BeforeEach
    void replaceTheThreads() {
        usual = Schedulers.setFactoryWithSnapshot(new Schedulers.Factory() {
            @Override
            public Scheduler newBoundedElastic(int threads, int tasks, ThreadFactory made, int ttl) {
                return Schedulers.fromExecutorService(new FastThread());
            }
        });
    }

    @AfterEach
    void restoreTheThreads() {
        Schedulers.resetFrom(usual);
    }

    private void assertUninterrupted(Mono<?> call) throws InterruptedException {
        AtomicReference<Object> end = new AtomicReference<>();
        CountDownLatch left = new CountDownLatch(1);
        call.materialize().subscribe(signal -> {
            ended.countDown();
            try {
                subscribed.await();
                end.set(signal);
            } catch (InterruptedException e) {
                end.set(e);
            }
            left.countDown();
        });
        subscribed.countDown();
        left.await();
        assertThat(end.get()).isNotInstanceOf(InterruptedException.class);
    }

    @Test
    void ofAnError() throws InterruptedException {
        assertUninterrupted(BlockingCall.of(() -> {
            throw new NoSuchFileException("none");
        }));
    }

    @Test
    void ofACallWithoutAResult() throws InterruptedException {
        assertUninterrupted(BlockingCall.of(() -> null));
    }

    @Test
    void ofAResult() throws InterruptedException {
        assertUninterrupted(BlockingCall.of(() -> 1));
    }
}
