// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.FakePort;
import io.penstock.handover.HandoverSubscription;


import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** A resource that must be closed, on its way to its subscriber: {@link HandoverSubscription}. */
public final class HandoverStress {

    private HandoverStress() {}

    static final class Resource implements AutoCloseable {
        final AtomicInteger closes = new AtomicInteger();

        @Override
        public void close() {
            closes.incrementAndGet();
        }
    }

    static class Subscriber implements CoreSubscriber<Resource> {
        final AtomicInteger given = new AtomicInteger();

        @Override
        public void onSubscribe(Subscription s) {}

        @Override
        public void onNext(Resource resource) {
            given.incrementAndGet();
        }

        @Override
        public void onError(Throwable error) {
            given.addAndGet(10);
        }

        @Override
        public void onComplete() {}
    }

    static final class Handed extends HandoverSubscription<Resource> {
        Handed(Subscriber subscriber) {
            super(subscriber, new FakePort(0).direct().delivery());
        }

        @Override
        protected void stop() {}
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the subscriber has it")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it is closed")
    @Outcome(expect = FORBIDDEN, desc = "the value is lost, or delivered and closed, or closed twice")
    @State
    public static class ArrivalAgainstCancel {
        private final Subscriber subscriber = new Subscriber();
        private final Handed handed = new Handed(subscriber);
        private final Resource resource = new Resource();

        public ArrivalAgainstCancel() {
            handed.request(1);
        }

        @Actor
        public void opener() {
            handed.succeed(resource);
        }

        @Actor
        public void canceller() {
            handed.cancel();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = subscriber.given.get();
            r.r2 = resource.closes.get();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the subscriber has it")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it is closed")
    @Outcome(expect = FORBIDDEN, desc = "the value is lost, or delivered and closed, or closed twice")
    @State
    public static class DeliveryAgainstCancel {
        private final Subscriber subscriber = new Subscriber();
        private final Handed handed = new Handed(subscriber);
        private final Resource resource = new Resource();

        public DeliveryAgainstCancel() {
            handed.succeed(resource);
        }

        @Actor
        public void subscriber() {
            handed.request(1);
        }

        @Actor
        public void canceller() {
            handed.cancel();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = subscriber.given.get();
            r.r2 = resource.closes.get();
        }
    }

    @JCStressTest
    @Outcome(id = "10, 1", expect = ACCEPTABLE, desc = "the failure was given, the resource closed")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the resource was given, the failure ignored")
    @Outcome(expect = FORBIDDEN, desc = "two signals, or the value is lost")
    @State
    public static class ArrivalAgainstFailure {
        private final Subscriber subscriber = new Subscriber();
        private final Handed handed = new Handed(subscriber);
        private final Resource resource = new Resource();

        public ArrivalAgainstFailure() {
            handed.request(1);
        }

        @Actor
        public void placer() {
            handed.succeed(resource);
        }

        @Actor
        public void ioQueue() {
            handed.fail(new IllegalStateException("abandoned"));
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = subscriber.given.get();
            r.r2 = resource.closes.get();
        }
    }
}
