// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.test.publisher.TestPublisher;

/** A Mono as a future: one of value, failure and cancel comes first, and a value that comes second is closed. */
class MonoFutureTest {

    private final AtomicInteger closes = new AtomicInteger();
    private final AutoCloseable resource = closes::incrementAndGet;
    private final TestPublisher<AutoCloseable> source =
            TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
    private final MonoFuture<AutoCloseable> future = new MonoFuture<>();

    @Test
    void theValueIsTheResultAndStaysOpen() {
        source.subscribe(future);
        source.emit(resource);
        assertThat(future).isCompletedWithValue(resource);
        assertThat(future.cancel(true)).isFalse();
        source.assertNotCancelled();
        assertThat(closes).hasValue(0);
    }

    @Test
    void aCancelReachesThePublisherAndAValueBehindItIsClosed() {
        source.subscribe(future);
        assertThat(future.cancel(true)).isTrue();
        source.assertCancelled();
        future.onNext(resource);
        future.onComplete();
        assertThat(future).isCancelled();
        assertThat(closes).hasValue(1);
    }

    @Test
    void aCancelBeforeTheSubscriptionCancelsIt() {
        future.cancel(false);
        source.subscribe(future);
        source.assertCancelled();
    }

    @Test
    void failureAndEmptinessAreResults() {
        source.subscribe(future);
        source.error(new IllegalStateException("no"));
        assertThat(future).isCompletedExceptionally();
        MonoFuture<AutoCloseable> empty = new MonoFuture<>();
        TestPublisher<AutoCloseable> none = TestPublisher.create();
        none.subscribe(empty);
        none.complete();
        assertThat(empty).isCompletedWithValue(null);
        assertThat(empty.thenApply(value -> 1)).isNotInstanceOf(MonoFuture.class);
        assertThat(empty.isCancelled()).isFalse();
        assertThat(future.handle((value, failure) -> failure instanceof CancellationException))
                .isCompletedWithValue(false);
    }
}
