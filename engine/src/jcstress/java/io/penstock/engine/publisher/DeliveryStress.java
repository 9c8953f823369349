// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.engine.FakePort;

import io.penstock.engine.queue.Stressed;

import io.penstock.engine.queue.DeliveryLoop;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.penstock.Completion;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Signals to subscribers: {@link DeliveryLoop}, {@link SubmitArrivals}, {@link SubmitWindow}, {@link MonoSubmit}. */
public final class DeliveryStress {

    private DeliveryStress() {}

    @JCStressTest
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "every arrival was seen, in one turn at a time")
    @Outcome(expect = FORBIDDEN, desc = "an arrival was missed, or two turns ran at a time")
    @State
    public static class SignalAgainstTurn extends DeliveryLoop {
        private final AtomicInteger news = new AtomicInteger();
        private int seen; // turns only
        private boolean turning;
        private int overlaps;

        public SignalAgainstTurn() {
            super(null);
        }

        @Override
        protected void turn() {
            overlaps += turning ? 1 : 0;
            turning = true;
            seen = news.get();
            turning = false;
        }

        @Override
        protected void rejected(RejectedExecutionException cause) {}

        @Override
        protected void crashed(Throwable cause) {}

        @Actor
        public void ioQueue() {
            news.incrementAndGet();
            signal();
        }

        @Actor
        public void subscriber() {
            news.incrementAndGet();
            signalHere();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = seen;
            r.r2 = overlaps;
        }
    }

    private static SubmittedTransfer submitted(int number) {
        return new SubmittedTransfer(new FakePort(0), Stressed.read(), null, number, number);
    }

    @JCStressTest
    @Outcome(id = "12", expect = ACCEPTABLE, desc = "both, in the order of their numbers")
    @Outcome(expect = FORBIDDEN, desc = "lost, twice or out of order")
    @State
    public static class ArrivalsOfTwoQueues extends DeliveryLoop {
        private final SubmitArrivals arrivals = new SubmitArrivals(2, true);
        private final SubmittedTransfer first = submitted(0);
        private final SubmittedTransfer second = submitted(1);
        private int order; // turns only

        public ArrivalsOfTwoQueues() {
            super(null);
        }

        @Override
        protected void turn() {
            for (SubmittedTransfer head = arrivals.head(); head != null; head = arrivals.head()) {
                order = order * 10 + head.number() + 1;
                arrivals.removeHead();
            }
        }

        @Override
        protected void rejected(RejectedExecutionException cause) {}

        @Override
        protected void crashed(Throwable cause) {}

        @Actor
        public void ioQueue() {
            arrivals.add(first);
            signal();
        }

        @Actor
        public void otherQueue() {
            arrivals.add(second);
            signal();
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = order;
        }
    }

    /** As {@link SubmitSubscription} does it. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "the transfer was cancelled, by one or by both")
    @Outcome(expect = FORBIDDEN, desc = "it goes on though its subscriber has left")
    @State
    public static class PutAgainstCancelAll {
        private final SubmitWindow window = new SubmitWindow(1);
        private final SubmittedTransfer transfer = submitted(0);
        private volatile boolean stopped;

        @Actor
        public void publisher() {
            window.put(window.take(), transfer);
            if (stopped) {
                transfer.cancel();
            }
        }

        @Actor
        public void subscriber() {
            stopped = true;
            window.cancelAll();
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = transfer.isCancelled() ? 1 : 0;
        }
    }

    private static final class Subscriber implements CoreSubscriber<Completion> {
        final AtomicInteger values = new AtomicInteger();
        final AtomicInteger ends = new AtomicInteger();
        Subscription subscription;

        @Override
        public void onSubscribe(Subscription s) {
            subscription = s;
        }

        @Override
        public void onNext(Completion completion) {
            values.incrementAndGet();
        }

        @Override
        public void onError(Throwable error) {
            ends.addAndGet(10);
        }

        @Override
        public void onComplete() {
            ends.incrementAndGet();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one value, one end: by demand or by the I/O queue")
    @Outcome(expect = FORBIDDEN, desc = "no value, or two")
    @State
    public static class RequestAgainstEnd {
        private final FakePort port = new FakePort(0).direct();
        private final Subscriber subscriber = new Subscriber();

        public RequestAgainstEnd() {
            new MonoSubmit(port, Stressed.read()).subscribe(subscriber);
        }

        @Actor
        public void subscriber() {
            subscriber.subscription.request(1);
        }

        @Actor
        public void ioQueue() {
            port.open.get(0).finish(1);
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = subscriber.values.get();
            r.r2 = subscriber.ends.get();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "delivered before the cancel")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "cancelled before")
    @Outcome(expect = FORBIDDEN, desc = "a value without an end, or two")
    @State
    public static class RequestAgainstEndAgainstCancel {
        private final FakePort port = new FakePort(0).direct();
        private final Subscriber subscriber = new Subscriber();

        public RequestAgainstEndAgainstCancel() {
            new MonoSubmit(port, Stressed.read()).subscribe(subscriber);
        }

        @Actor
        public void subscriber() {
            subscriber.subscription.request(1);
        }

        @Actor
        public void ioQueue() {
            port.open.get(0).finish(1);
        }

        @Actor
        public void canceller() {
            subscriber.subscription.cancel();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = subscriber.values.get();
            r.r2 = subscriber.ends.get();
        }
    }
}
