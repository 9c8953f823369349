// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Chunk;
import io.penstock.HostLease;
import io.penstock.file.LeaseFlux;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Fuseable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Leases wait in the stream's own queue, so that no operator that changes threads can drop them. */
class StreamFusionTest extends StreamFixture {

    private final List<Runnable> tasks = new ArrayList<>();
    private final Scheduler held = Schedulers.fromExecutor(tasks::add); // its thread does not run

    private static Mono<HostLease> retained(Chunk chunk) {
        return Mono.fromSupplier(chunk::retain);
    }

    /** Polls only when the test does. */
    private static final class Polling<T> implements CoreSubscriber<T> {

        private Fuseable.QueueSubscription<T> queue;
        private int announced;
        private boolean complete;
        private Throwable error;

        @Override
        @SuppressWarnings("unchecked")
        public void onSubscribe(Subscription s) {
            queue = (Fuseable.QueueSubscription<T>) s;
            assertThat(queue.requestFusion(Fuseable.SYNC)).isEqualTo(Fuseable.NONE);
            assertThat(queue.requestFusion(Fuseable.ANY | Fuseable.THREAD_BARRIER))
                    .isEqualTo(Fuseable.ASYNC);
        }

        @Override
        public void onNext(T none) {
            assertThat(none).isNull();
            announced++;
        }

        @Override
        public void onError(Throwable cause) {
            error = cause;
        }

        @Override
        public void onComplete() {
            complete = true;
        }
    }

    private <T> Polling<T> polling(Flux<T> stream, long demand) {
        Polling<T> subscriber = new Polling<>();
        stream.subscribe(subscriber);
        subscriber.queue.request(demand);
        port.runAll();
        return subscriber;
    }

    @Test
    void aFusedSubscriberPollsAsManyElementsAsItHasRequestedInOrder() {
        Polling<Long> subscriber = polling(new FluxStream<>(port, plan, chunk -> Mono.just(chunk.index())), 4);
        assertThat(subscriber.announced).isEqualTo(4);
        assertThat(subscriber.queue.size()).isEqualTo(4);
        for (long i = 0; i < 4; i++) {
            assertThat(subscriber.queue.poll()).isEqualTo(i);
        }
        assertThat(subscriber.queue.isEmpty()).isTrue();
        assertThat(subscriber.queue.poll()).isNull();
        subscriber.queue.request(100);
        port.runAll();
        assertThat(subscriber.announced).isEqualTo(10);
        assertThat(subscriber.complete)
                .as("announced before what is left is polled")
                .isTrue();
        assertThat(subscriber.queue.poll()).isEqualTo(4);
    }

    @Test
    void aCancelClosesWhatHasNotBeenPolledAndNothingElse() {
        Polling<HostLease> subscriber = polling(new FluxStream<>(port, plan, StreamFusionTest::retained), 3);
        HostLease polled = subscriber.queue.poll();
        subscriber.queue.cancel();
        port.runAll();
        assertThat(subscriber.queue.poll()).isNull();
        assertThat(polled.view().get(1)).isEqualTo((byte) 1);
        polled.close();
    }

    @Test
    void aCancelBehindTheEndClosesThemToo() {
        Polling<HostLease> subscriber =
                polling(new FluxStream<>(port, plan.depth(20), StreamFusionTest::retained), 100);
        assertThat(subscriber.complete).isTrue();
        assertThat(subscriber.queue.size()).isEqualTo(10);
        subscriber.queue.cancel();
    }

    @Test
    void anErrorComesBehindTheElementsAndClearClosesThem() {
        Polling<HostLease> subscriber = polling(
                new FluxStream<>(
                        port,
                        plan,
                        chunk -> chunk.index() < 2
                                ? Mono.fromSupplier(chunk::retain)
                                : Mono.error(new IOException("third"))),
                100);
        assertThat(subscriber.error).hasMessage("third");
        assertThat(subscriber.queue.size()).isEqualTo(2);
        subscriber.queue.clear();
        assertThat(subscriber.queue.size()).isZero();
    }

    /** An element whose publisher has passed the check for a cancel is added behind it. */
    @Test
    void whatIsAddedBehindTheCancelIsDiscarded() {
        List<String> discarded = new ArrayList<>();
        FusedElements<String> elements = new FusedElements<>(discarded::add);
        elements.add("before");
        elements.cancel();
        elements.add("behind");
        assertThat(discarded).containsExactly("before", "behind");
        assertThat(elements.size()).isZero();
    }

    @Test
    void publishOnWhoseThreadIsOvertakenByTheCancelDropsNone() {
        Flux<HostLease> leases = new FluxStream<>(port, plan, StreamFusionTest::retained);
        for (Flux<?> stream : List.of(leases, new LeaseFlux<>(leases, lease -> lease))) {
            Disposable subscription = stream.publishOn(held, 3).subscribe();
            port.runAll();
            assertThat(tasks).as("it has elements, and waits for its thread").isNotEmpty();
            assertThat(port.live()).isPositive();
            subscription.dispose();
            port.runAll();
            assertThat(port.live()).isZero();
        }
    }

    @Test
    void publishOnPassesAllOnAsBefore() {
        TestSubscriber<Long> subscriber = TestSubscriber.create();
        new LeaseFlux<>(new FluxStream<HostLease>(port, plan, StreamFusionTest::retained), lease -> {
                    long first = lease.view().get(0) & 0xff;
                    lease.close();
                    return first;
                })
                .publishOn(held, 2)
                .subscribe(subscriber);
        for (int round = 0; round < 50; round++) {
            port.runAll();
            List.copyOf(tasks).forEach(Runnable::run);
        }
        assertThat(subscriber.getReceivedOnNext()).hasSize(10).startsWith(0L, 100L, 200L);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void whatCannotBeWrappedEndsTheStream() {
        for (boolean fused : List.of(true, false)) {
            Flux<Object> wrapped =
                    new LeaseFlux<>(new FluxStream<HostLease>(port, plan, StreamFusionTest::retained), lease -> {
                        lease.close();
                        throw new IllegalStateException("no wrapper");
                    });
            TestSubscriber<Object> subscriber = TestSubscriber.create();
            (fused ? wrapped.publishOn(Schedulers.immediate()) : wrapped.hide()).subscribe(subscriber);
            port.runAll();
            assertThat(subscriber.expectTerminalError()).hasMessage("no wrapper");
        }
    }
}
