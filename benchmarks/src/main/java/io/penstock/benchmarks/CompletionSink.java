// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Completion;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Counts completions, with unbounded demand. */
final class CompletionSink implements CoreSubscriber<Completion> {

    private static final int PATIENCE_SECONDS = 60;

    private final long bytesEach;
    private final Consumer<Completion> each;
    private final CountDownLatch ended = new CountDownLatch(1);
    private @Nullable Subscription upstream;
    private @Nullable Throwable failure;
    private long count;

    /**
     * Creates an instance.
     *
     * @param bytesEach the bytes that every transfer must have moved
     * @param each called with each of them
     */
    CompletionSink(long bytesEach, Consumer<Completion> each) {
        this.bytesEach = bytesEach;
        this.each = each;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        upstream = subscription;
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Completion completion) {
        if (completion.bytes() != bytesEach) {
            failure = new IOException("a short transfer: " + completion);
            if (upstream != null) {
                upstream.cancel();
            }
            ended.countDown();
        }
        count++;
        each.accept(completion);
    }

    @Override
    public void onError(Throwable cause) {
        failure = cause;
        ended.countDown();
    }

    @Override
    public void onComplete() {
        ended.countDown();
    }

    /** Waits for termination and returns the number of completions. */
    long await() throws Exception {
        if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("a stream of transfers has not ended after " + PATIENCE_SECONDS + " s");
        }
        if (failure != null) {
            throw new IOException("Penstock failed", failure);
        }
        return count;
    }
}
