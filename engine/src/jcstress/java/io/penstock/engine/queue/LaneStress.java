// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;


import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** {@link Lane}: a message is never left to a lane that sleeps. */
public final class LaneStress {

    private LaneStress() {}

    /** Waits as a lane does, but gives up, and says so, when everything was told and no wake came. */
    private static final class Bed implements NativeQueue {
        private volatile boolean woken;
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
            if (waitNanos == 0) {
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
        public void wake() {
            woken = true;
        }

        @Override
        public void close() {}
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the message was seen, or it woke the lane: it ran")
    @Outcome(expect = FORBIDDEN, desc = "a lost wake-up")
    @State
    public static class TellAgainstPark {
        private final Bed bed = new Bed(1);
        private final Lane lane = new Lane(bed, LaneLimits.ofBytes(1), () -> 0);
        private int ran;

        @Actor
        public void lane() {
            lane.turn(true);
        }

        @Actor
        public void teller() {
            lane.post(() -> ran++);
            bed.tellers.decrementAndGet();
        }

        @Arbiter
        public void after(II_Result r) {
            int before = ran;
            lane.turn(false);
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
        private final Lane lane = new Lane(bed, LaneLimits.ofBytes(1), () -> 0);
        private int ran;

        @Actor
        public void lane() {
            lane.turn(true);
        }

        @Actor
        public void teller() {
            lane.post(() -> ran++);
            bed.tellers.decrementAndGet();
        }

        @Actor
        public void otherTeller() {
            lane.post(() -> ran++);
            bed.tellers.decrementAndGet();
        }

        @Arbiter
        public void after(II_Result r) {
            int before = ran;
            lane.turn(false);
            r.r1 = ran;
            r.r2 = bed.unwoken && before < ran ? 1 : 0;
        }
    }
}
