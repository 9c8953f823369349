// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.FakePort;
import io.penstock.engine.kit.MonoOpen;
import io.penstock.handover.HandoverSubscription;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** A resource that is handed over belongs to the subscriber or is closed, whatever comes in what order. */
class HandoverTest {

    private final FakePort port = new FakePort(0);
    private final TestSubscriber<Resource> subscriber =
            TestSubscriber.builder().initialRequest(0).build();
    private final Handed handed = new Handed(port, subscriber);

    private static final class Resource implements AutoCloseable {
        int closes;

        @Override
        public void close() {
            closes++;
        }
    }

    private static final class Handed extends HandoverSubscription<Resource> {
        int stops;

        Handed(Port port, CoreSubscriber<? super Resource> actual) {
            super(actual, port.delivery());
            actual.onSubscribe(this);
        }

        @Override
        protected void stop() {
            stops++;
        }
    }

    @Test
    void aResourceWaitsForDemandAndIsDeliveredOnTheScheduler() {
        Resource resource = new Resource();
        handed.succeed(resource);
        port.manual.run();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
        subscriber.request(1);
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
        port.manual.run();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(resource);
        assertThat(subscriber.isTerminatedComplete()).isTrue();
        assertThat(resource.closes).isZero();
    }

    @Test
    void aCancelAfterTheDeliveryLeavesTheResourceToTheSubscriber() {
        Resource resource = new Resource();
        subscriber.request(1);
        handed.succeed(resource);
        port.manual.run();
        handed.cancel();
        assertThat(resource.closes).isZero();
        assertThat(handed.stops).isZero();
    }

    @Test
    void aCancelBetweenArrivalAndDeliveryClosesOnce() {
        Resource resource = new Resource();
        subscriber.request(1);
        handed.succeed(resource);
        handed.cancel();
        handed.cancel();
        port.manual.run();
        assertThat(resource.closes).isOne();
        assertThat(handed.stops).isZero();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
        assertThat(subscriber.isTerminated()).isFalse();
    }

    @Test
    void aCancelBeforeDemandCloses() {
        Resource resource = new Resource();
        handed.succeed(resource);
        handed.cancel();
        subscriber.request(1);
        port.manual.run();
        assertThat(resource.closes).isOne();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
    }

    @Test
    void aResourceThatArrivesAfterTheCancelIsClosed() {
        Resource resource = new Resource();
        subscriber.request(1);
        handed.cancel();
        assertThat(handed.stops).isOne();
        handed.succeed(resource);
        port.manual.run();
        assertThat(resource.closes).isOne();
        assertThat(subscriber.getReceivedOnNext()).isEmpty();
    }

    @Test
    void aSecondResourceIsClosedAndALaterFailureIgnored() {
        Resource first = new Resource();
        Resource second = new Resource();
        subscriber.request(1);
        handed.succeed(first);
        handed.succeed(second);
        handed.fail(new IllegalStateException("late"));
        port.manual.run();
        assertThat(subscriber.getReceivedOnNext()).containsExactly(first);
        assertThat(first.closes).isZero();
        assertThat(second.closes).isOne();
    }

    @Test
    void aFailureNeedsNoDemandAndClosesALateResource() {
        Resource late = new Resource();
        handed.fail(new IllegalStateException("refused"));
        handed.succeed(late);
        port.manual.run();
        assertThat(subscriber.expectTerminalError()).hasMessage("refused");
        assertThat(late.closes).isOne();
    }

    @Test
    void aSchedulerThatWasShutDownStillDelivers() {
        Resource resource = new Resource();
        subscriber.request(1);
        port.manual.dispose();
        handed.succeed(resource);
        assertThat(subscriber.getReceivedOnNext()).containsExactly(resource);
    }

    @Test
    void aCallThatHasNotBegunWhenItIsCancelledIsNotMade() {
        List<Runnable> tasks = new ArrayList<>();
        List<Resource> opened = new ArrayList<>();
        Mono<Resource> opening = new MonoOpen<>(Schedulers.boundedElastic()::schedule, port.delivery(), () -> {
            opened.add(new Resource());
            return opened.get(0);
        });
        Schedulers.onScheduleHook("kept", task -> {
            tasks.add(task);
            return () -> {};
        });
        try {
            opening.subscribe().dispose();
        } finally {
            Schedulers.resetOnScheduleHook("kept");
        }
        assertThat(tasks).as("calls on their way").hasSize(1);
        tasks.get(0).run();
        assertThat(opened).isEmpty();
    }
}
