// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * A subscriber that records every signal, including signals that a correct publisher would not send.
 *
 * @param <T> the type of the values
 */
public final class Witness<T> implements CoreSubscriber<T> {

    private static final int LAST_PERMITS = 1 << 20;

    private final long firstRequest;
    private final List<T> values = new CopyOnWriteArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Semaphore arrivals = new Semaphore(0);
    private int awaited; // the test's thread only
    private volatile @Nullable Subscription subscription;
    private volatile int completions;

    private Witness(long firstRequest) {
        this.firstRequest = firstRequest;
    }

    /** Subscribes with unbounded demand. */
    public static <T> Witness<T> of(Publisher<? extends T> publisher) {
        return of(publisher, Long.MAX_VALUE);
    }

    /** Subscribes and requests {@code demand} values, which may be 0. */
    public static <T> Witness<T> of(Publisher<? extends T> publisher, long demand) {
        Witness<T> witness = new Witness<>(demand);
        publisher.subscribe(witness);
        return witness;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        this.subscription = subscription;
        if (firstRequest > 0) {
            subscription.request(firstRequest);
        }
    }

    @Override
    public void onNext(T value) {
        threads.add(Thread.currentThread());
        values.add(value);
        arrivals.release();
    }

    @Override
    public void onError(Throwable error) {
        threads.add(Thread.currentThread());
        errors.add(error);
        end();
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // signals are serial; a publisher that sends two at once fails anyway
    public void onComplete() {
        threads.add(Thread.currentThread());
        completions++;
        end();
    }

    private void end() {
        ended.countDown();
        arrivals.release(LAST_PERMITS); // so that no thread waits for values that cannot arrive
    }

    /** Requests more values. */
    public void request(long demand) {
        subscription().request(demand);
    }

    /** Cancels. */
    public void cancel() {
        subscription().cancel();
    }

    private Subscription subscription() {
        return Objects.requireNonNull(subscription, "onSubscribe was not called inside subscribe");
    }

    /** Returns whether a terminal signal was received. */
    public boolean hasEnded() {
        return ended.getCount() == 0;
    }

    /** Returns the number of terminal signals received. */
    public int terminals() {
        return completions + errors.size();
    }

    /** Returns the values so far. */
    public List<T> values() {
        return values;
    }

    /** Returns the threads that delivered signals. */
    public List<Thread> threads() {
        return threads;
    }

    /** Waits for the terminal signal, and returns this. */
    public Witness<T> awaitEnd() {
        try {
            assertThat(ended.await(Bench.patience().toSeconds(), TimeUnit.SECONDS))
                    .as("a terminal signal within %s (rule 101)", Bench.patience())
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for a terminal signal", e);
        }
        return this;
    }

    /** Waits for {@code count} more values than were awaited before; fails once no more can arrive. */
    public void awaitValues(int count) {
        try {
            awaited += count;
            assertThat(arrivals.tryAcquire(count, Bench.patience().toSeconds(), TimeUnit.SECONDS)
                            && values.size() >= awaited)
                    .as(
                            "%d more values within %s; so far %s, errors %s, completions %d",
                            count, Bench.patience(), values, errors, completions)
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for values", e);
        }
    }

    /** Waits for completion and returns all values; fails on an error. */
    public List<T> all() {
        awaitEnd();
        assertThat(errors).as("errors signalled").isEmpty();
        return values;
    }

    /** Waits for completion and returns the only value; fails on an error. */
    public T value() {
        awaitEnd();
        assertThat(errors).as("errors signalled").isEmpty();
        assertThat(values).as("values signalled").hasSize(1);
        return values.get(0);
    }

    /** Waits for an error and returns it; fails on completion. */
    public Throwable error() {
        awaitEnd();
        assertThat(errors).as("errors signalled; values: %s", values).hasSize(1);
        return errors.get(0);
    }
}
