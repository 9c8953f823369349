// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.BufferRegion;
import io.penstock.Completion;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

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

    /** Measures a stream that takes its transfers from a source, which ends after this time. */
    Measure measure(Flux<Completion> stream, TransferSource source, long nanos) throws Exception {
        return Measure.of(() -> {
            stream.subscribe(this);
            TimeUnit.NANOSECONDS.sleep(nanos);
            source.end();
            return await();
        });
    }

    /** Returns the number of the buffer's part into which a transfer went, of parts of the same length. */
    static int part(Completion completion) {
        BufferRegion target = (BufferRegion) completion.transfer().target();
        return (int) (target.offset() / target.length());
    }
}
