// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link Wakeup}: work is never left to a thread that waits. */
public final class WakeupStress {

    private WakeupStress() {}

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the waker ends the wait")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the thread saw the work, and did not wait")
    @Outcome(expect = FORBIDDEN, desc = "the thread waits and is not woken, or it missed the published work")
    @State
    public static class WakeAgainstWait {
        private int woken;
        private final Wakeup wakeup = new Wakeup(() -> woken++);
        private int work; // published by the wake alone
        private int seen;

        @Actor
        public void waker() {
            work = 1;
            wakeup.wake();
        }

        @Actor
        public void waiter() {
            if (!wakeup.begin()) {
                seen = work;
            }
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = woken;
            r.r2 = seen;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the waker ends the wait")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the thread saw the work, and did not wait")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both, at the same moment")
    @Outcome(expect = FORBIDDEN, desc = "a lost wake-up")
    @State
    public static class RouseAgainstWait {
        private int woken;
        private final Wakeup wakeup = new Wakeup(() -> woken++);
        private volatile int work;
        private int seen;

        public RouseAgainstWait() {
            wakeup.checkFor(() -> work == 1);
        }

        @Actor
        public void waker() {
            work = 1;
            wakeup.rouse();
        }

        @Actor
        public void waiter() {
            if (!wakeup.begin()) {
                seen = work;
            }
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = woken;
            r.r2 = seen;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "woken once, and it saw the work")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the wait was over by itself, and it saw the work, now or next")
    @Outcome(expect = FORBIDDEN, desc = "the next wait begins without the work")
    @State
    public static class WakeAgainstEnd {
        private int woken;
        private final Wakeup wakeup = new Wakeup(() -> woken++);
        private int work; // published by the wake alone
        private int seen;

        public WakeAgainstEnd() {
            wakeup.begin();
        }

        @Actor
        public void waker() {
            work = 1;
            wakeup.wake();
        }

        @Actor
        public void waiter() {
            if (wakeup.end()) {
                seen = work;
            }
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = woken;
            r.r2 = seen == 1 || !wakeup.begin() ? work : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "one of the two wakers ends the wait")
    @Outcome(expect = FORBIDDEN, desc = "none does, or both make the native call")
    @State
    public static class WakeAgainstRouse {
        private final AtomicInteger ends = new AtomicInteger();
        private final Wakeup wakeup = new Wakeup(ends::incrementAndGet);

        public WakeAgainstRouse() {
            wakeup.begin();
        }

        @Actor
        public void wake() {
            wakeup.wake();
        }

        @Actor
        public void rouse() {
            wakeup.rouse();
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = ends.get();
        }
    }
}
