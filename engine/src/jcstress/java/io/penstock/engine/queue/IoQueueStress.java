// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;


import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** {@link IoQueue}: a message is never left to an I/O queue that sleeps. */
public final class IoQueueStress {

    private IoQueueStress() {}

    /** Waits as an I/O queue does, but gives up, and reports it, when everything was posted and no wake came. */
    private static final class Bed implements NativeQueue {
        private volatile boolean woken;
        private final Wakeup wakeup = new Wakeup(() -> woken = true);
        private final AtomicInteger tellers;
        boolean unwoken;

        Bed(int tellers) {
            this.tellers = new AtomicInteger(tellers);
        }

        @Override
        public int depth() {
            return 1;
        }

        @Override
        public void enqueue(Request request) {}

        @Override
        public void cancel(Request request) {}

        @Override
        public void turn(long waitNanos) {
            if (waitNanos == 0 || !wakeup.begin()) {
                return;
            }
            while (!woken) {
                if (tellers.get() == 0) { // read before woken: a wake comes before post() returns
                    unwoken = !woken;
                    return;
                }
                Thread.onSpinWait();
            }
        }

        @Override
        public Wakeup wakeup() {
            return wakeup;
        }

        @Override
        public void close() {}
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the message was seen, or it woke the I/O queue: it ran")
    @Outcome(expect = FORBIDDEN, desc = "a lost wake-up")
    @State
    public static class PostAgainstPark {
        private final Bed bed = new Bed(1);
        private final IoQueue ioQueue = new IoQueue(bed, QueueLimits.ofBytes(1), () -> 0);
        private int ran;

        @Actor
        public void ioQueue() {
            ioQueue.turn(true);
        }

        @Actor
        public void teller() {
            ioQueue.post(() -> ran++);
            bed.tellers.decrementAndGet();
        }

        @Arbiter
        public void after(II_Result r) {
            int before = ran;
            ioQueue.turn(false);
            r.r1 = ran;
            r.r2 = bed.unwoken && before < ran ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "both messages ran")
    @Outcome(expect = FORBIDDEN, desc = "a lost wake-up, or a lost message")
    @State
    public static class TwoTellersAgainstPark {
        private final Bed bed = new Bed(2);
        private final IoQueue ioQueue = new IoQueue(bed, QueueLimits.ofBytes(1), () -> 0);
        private int ran;

        @Actor
        public void ioQueue() {
            ioQueue.turn(true);
        }

        @Actor
        public void teller() {
            ioQueue.post(() -> ran++);
            bed.tellers.decrementAndGet();
        }

        @Actor
        public void otherSender() {
            ioQueue.post(() -> ran++);
            bed.tellers.decrementAndGet();
        }

        @Arbiter
        public void after(II_Result r) {
            int before = ran;
            ioQueue.turn(false);
            r.r1 = ran;
            r.r2 = bed.unwoken && before < ran ? 1 : 0;
        }
    }
}
