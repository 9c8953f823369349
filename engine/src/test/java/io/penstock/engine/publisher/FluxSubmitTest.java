// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.Transfer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.Scannable;
import reactor.core.Scannable.Attr;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SignalType;
import reactor.test.subscriber.TestSubscriber;

class FluxSubmitTest extends SubmitFixture {

    @Test
    void nothingHappensBeforeSubscribeAndNothingCompletesInsideIt() {
        Flux<Completion> all = new FluxSubmit(port, reads(3), inFlight(8));
        assertThat(port.opens).isZero();

        TestSubscriber<Completion> subscriber = TestSubscriber.create();
        all.subscribe(subscriber);
        assertThat(port.opens).isEqualTo(3);
        port.endAll();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();

        port.manual.run();
        assertThat(subscriber.getReceivedOnNext()).hasSize(3);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void completionsComeAsTheTransfersEnd() {
        TestSubscriber<Integer> subscriber = submit(reads(3), inFlight(8), 10);
        port.end(2);
        port.end(0);
        port.manual.run();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(2, 0);
        assertThat(subscriber.isTerminated()).isFalse();

        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(2, 0, 1);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void orderedCompletionsWaitForThoseBeforeThem() {
        TestSubscriber<Integer> subscriber = submit(reads(100), inFlight(7).ordered(), 1000);
        port.end(6);
        port.end(1);
        port.manual.run();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();

        while (!port.open.isEmpty() || port.manual.pending() > 0) {
            if (!port.open.isEmpty()) {
                port.end(port.open.size() - 1);
            }
            port.manual.run();
        }
        assertThat(subscriber.getReceivedOnNext()).hasSize(100).isSorted();
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 8, 100, 128, 200})
    void noMoreThanInFlightAreTakenAheadOfDelivery(int inFlight) {
        TestSubscriber<Integer> subscriber = submit(reads(500), inFlight(inFlight), 0);
        port.endAll();
        port.manual.run();
        assertThat(port.opens).as("taken, as nothing is delivered").isEqualTo(inFlight);

        for (int i = 0; i < 500; i++) {
            subscriber.request(1);
            port.runAll();
            assertThat(subscriber.getReceivedOnNext()).hasSize(i + 1);
            assertThat(port.opens).as("as many as there may be").isEqualTo(Math.min(500, i + 1 + inFlight));
        }
        assertThat(subscriber.isTerminatedComplete()).isTrue();
    }

    @Test
    void aBurstOfCompletionsSchedulesOneTask() {
        submit(reads(64), inFlight(64), 1000);
        port.manual.run();
        int before = port.manual.scheduled;
        port.endAll();
        assertThat(port.manual.scheduled - before).isEqualTo(1);
    }

    @Test
    void anEmptyPublisherCompletes() {
        TestSubscriber<Integer> subscriber = submit(Flux.empty(), inFlight(8), 0);
        assertThat(subscriber.isTerminated()).isFalse();
        port.manual.run();
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(port.manual.workers).isZero();
    }

    @Test
    void thePublisherSeesTheContextOfTheSubscriber() {
        Flux<Transfer> source = Flux.deferContextual(context -> reads(context.get("count")));
        TestSubscriber<Completion> subscriber =
                TestSubscriber.builder().contextPut("count", 3).build();
        new FluxSubmit(port, source, inFlight(8)).subscribe(subscriber);
        port.runAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(3);
    }

    @Test
    void directDeliveryContinuesOnTheCompletingThread() {
        TestSubscriber<Integer> subscriber = submit(reads(100), inFlight(4).direct(), 1000);
        port.end();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(0);
        assertThat(port.opens).as("the next one is open without a hop").isEqualTo(5);
        port.endAll();
        assertThat(subscriber.getReceivedOnNext()).hasSize(100);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(port.manual.scheduled).isZero();
    }

    @Test
    void requestsOutOfOnNextDoNotGrowTheStack() {
        List<Integer> received = new ArrayList<>();
        int count = 100_000;
        new FluxSubmit(
                        port.direct(),
                        reads(60_000).concatWith(reads(40_000)),
                        inFlight(1000).ordered())
                .subscribe(new BaseSubscriber<>() {
                    @Override
                    protected void hookOnSubscribe(Subscription subscription) {
                        subscription.request(1);
                    }

                    @Override
                    protected void hookOnNext(Completion value) {
                        received.add(number(value));
                        request(1);
                    }
                });
        while (!port.open.isEmpty()) {
            port.end(port.open.size() - 1); // the whole window piles up before its head ends
        }
        assertThat(received).hasSize(count);
    }

    @Test
    void aMillionTransfersAgainstASlowSubscriberStayBounded() {
        int count = 1_000_000;
        long[] received = {0, 0};
        Transfer same = read(1);
        BaseSubscriber<Completion> slow = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {}

            @Override
            protected void hookOnNext(Completion value) {
                received[0]++;
            }

            @Override
            protected void hookFinally(SignalType type) {
                received[1]++;
            }
        };
        new FluxSubmit(port, Flux.range(0, count).map(i -> same), inFlight(128)).subscribe(slow);
        while (received[0] < count) {
            port.endAll();
            port.manual.run();
            assertThat(port.opens - received[0]).isLessThanOrEqualTo(128);
            slow.request(64);
            port.manual.run();
        }
        assertThat(port.mostOpen).isLessThanOrEqualTo(128);
        assertThat(received[1]).isEqualTo(1);
    }

    @Test
    void eachSubscriptionMovesTheBytesAgain() {
        Flux<Completion> all = new FluxSubmit(port, Flux.fromIterable(Arrays.asList(read(0), read(1))), inFlight(8));
        TestSubscriber<Completion> subscriber = TestSubscriber.create();
        all.repeat(2).subscribe(subscriber);
        port.runAll();
        assertThat(port.opens).isEqualTo(6);
        assertThat(subscriber.getReceivedOnNext()).hasSize(6);
    }

    @Test
    void reactorsToolsSeeWhatASubscriptionIs() {
        AtomicReference<Subscription> given = new AtomicReference<>();
        BaseSubscriber<Completion> subscriber = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                given.set(subscription);
            }
        };
        new FluxSubmit(port, reads(20), inFlight(4)).subscribe(subscriber);
        Subscription subscription = given.get();
        Scannable scan = Scannable.from(subscription);
        assertThat(scan.scan(Attr.REQUESTED_FROM_DOWNSTREAM)).isZero();
        subscription.request(3);
        assertThat(scan.scan(Attr.REQUESTED_FROM_DOWNSTREAM)).isEqualTo(3);
        assertThat(scan.scan(Attr.PREFETCH)).isEqualTo(4);
        assertThat(scan.scan(Attr.TERMINATED)).isFalse();
        assertThat(scan.scanUnsafe(Attr.ACTUAL)).isSameAs(subscriber);
        assertThat(scan.scanUnsafe(Attr.PARENT)).isInstanceOf(Subscription.class);
        assertThat(scan.scanUnsafe(Attr.BUFFERED)).isNull();
        subscription.cancel();
        assertThat(scan.scan(Attr.TERMINATED)).isTrue();
    }
}
