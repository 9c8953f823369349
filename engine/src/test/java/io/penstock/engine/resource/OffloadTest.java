// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.FakePort;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** Calls that block, and what a cancel does to them. */
class OffloadTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private final FakePort port = new FakePort(0);

    /** Found by a storm of cancels over file channels: a truncate that was interrupted had closed the file. */
    @Test
    void aCancelInterruptsNoCallThatHasBegun() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Disposable subscription = Offload.run(
                        port, task -> Schedulers.boundedElastic().schedule(task), () -> {
                            begun.countDown();
                            try {
                                return cancelled.await(20, TimeUnit.SECONDS)
                                        && interrupted.complete(Thread.interrupted());
                            } catch (InterruptedException e) {
                                return interrupted.complete(true);
                            }
                        })
                .subscribe();
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        subscription.dispose();
        cancelled.countDown();
        assertThat(interrupted).succeedsWithin(LONG).isEqualTo(false);
    }
}
