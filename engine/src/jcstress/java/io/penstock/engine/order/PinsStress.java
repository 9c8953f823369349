// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;


import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** {@link Pins}: what is closed is freed once, and not while it is pinned (rules 201, 202). */
public final class PinsStress {

    private PinsStress() {}

    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "freed once, by the last release, which saw the user's writes")
    @Outcome(expect = FORBIDDEN, desc = "not freed, freed twice, or before the user was done")
    @State
    public static class CloseAgainstUnpin {
        private int written;
        private int seen;
        private final AtomicInteger freed = new AtomicInteger();
        private final Pins pins = new Pins(() -> {
            seen = written;
            freed.incrementAndGet();
        });

        public CloseAgainstUnpin() {
            pins.tryPin();
        }

        @Actor
        public void user() {
            written = 1;
            pins.unpin();
        }

        @Actor
        public void closer() {
            pins.close();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = freed.get();
            r.r2 = seen;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "pinned first: freed once, later")
    @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "closed first: no pin")
    @Outcome(expect = FORBIDDEN, desc = "freed while pinned, never or twice")
    @State
    public static class CloseAgainstTryPin {
        private final AtomicInteger freed = new AtomicInteger();
        private final Pins pins = new Pins(freed::incrementAndGet);

        @Actor
        public void user(III_Result r) {
            if (pins.tryPin()) {
                r.r1 = 1;
                r.r2 = freed.get();
                pins.unpin();
            }
        }

        @Actor
        public void closer() {
            pins.close();
        }

        @Arbiter
        public void after(III_Result r) {
            r.r3 = freed.get();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one of the two was first, and it was freed once")
    @Outcome(expect = FORBIDDEN, desc = "both or neither were first, or it was not freed once")
    @State
    public static class CloseAgainstCloseAndUnpin {
        private final AtomicInteger freed = new AtomicInteger();
        private final AtomicInteger first = new AtomicInteger();
        private final Pins pins = new Pins(freed::incrementAndGet);

        public CloseAgainstCloseAndUnpin() {
            pins.tryPin();
        }

        @Actor
        public void closer() {
            first.addAndGet(pins.close() ? 1 : 0);
        }

        @Actor
        public void otherCloser() {
            first.addAndGet(pins.close() ? 1 : 0);
        }

        @Actor
        public void user() {
            pins.unpin();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = first.get();
            r.r2 = freed.get();
        }
    }

    /** As {@link Closing} does it: the backend's pins refuse new work, and when they are gone its resources close. */
    @JCStressTest
    @Outcome(id = "2, 0, 1", expect = ACCEPTABLE, desc = "taken in: its file stays open until it has left")
    @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "refused by the backend")
    @Outcome(expect = FORBIDDEN, desc = "taken in without its file, or the file freed under it, never or twice")
    @State
    public static class CloseAgainstSubmit {
        private final AtomicInteger freed = new AtomicInteger();
        private final Pins file = new Pins(freed::incrementAndGet);
        private final Pins backend = new Pins(file::close);

        @Actor
        public void submitter(III_Result r) {
            if (backend.tryPin()) {
                r.r1 = 1;
                if (file.tryPin()) {
                    r.r1 = 2;
                    r.r2 = freed.get();
                    file.unpin();
                }
                backend.unpin();
            }
        }

        @Actor
        public void closer() {
            backend.close();
        }

        @Arbiter
        public void after(III_Result r) {
            r.r3 = freed.get();
        }
    }
}
