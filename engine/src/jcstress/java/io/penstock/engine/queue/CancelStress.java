// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;


import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** {@link OpenTransfer}: one terminal signal at most, and busy exactly until the device has let go (101, 205). */
public final class CancelStress {

    private CancelStress() {}

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "ended first: signalled")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "cancelled first: not signalled")
    @Outcome(expect = FORBIDDEN, desc = "signalled twice, or busy for ever")
    @State
    public static class TerminalAgainstCancel {
        private final Stressed open = Stressed.make();

        public TerminalAgainstCancel() {
            open.admit();
        }

        @Actor
        public void ioQueue() {
            open.finish(1);
        }

        @Actor
        public void subscriber() {
            open.cancel();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = open.ends.get();
            r.r2 = open.isBusy() ? 1 : 0;
            open.forget();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "busy while the device works, and not after")
    @Outcome(expect = FORBIDDEN, desc = "one cancel took back the mark of the other, or both left one")
    @State
    public static class CancelAgainstCancel {
        private final Stressed open = Stressed.make();

        public CancelAgainstCancel() {
            open.admit();
        }

        @Actor
        public void subscriber() {
            open.cancel();
        }

        @Actor
        public void otherSubscriber() {
            open.cancel();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = open.isBusy() ? 1 : 0;
            open.finish(1);
            r.r2 = open.isBusy() ? 1 : 0;
            open.forget();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "ended before both: signalled")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "cancelled")
    @Outcome(expect = FORBIDDEN, desc = "signalled twice, or busy for ever")
    @State
    public static class TerminalAgainstTwoCancels {
        private final Stressed open = Stressed.make();

        public TerminalAgainstTwoCancels() {
            open.admit();
        }

        @Actor
        public void ioQueue() {
            open.finish(1);
        }

        @Actor
        public void subscriber() {
            open.cancel();
        }

        @Actor
        public void otherSubscriber() {
            open.cancel();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = open.ends.get();
            r.r2 = open.isBusy() ? 1 : 0;
            open.forget();
        }
    }

    /** The subscriber's thread takes it in, and its I/O queue turns at once; another thread cancels. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not signalled, and busy only while the device works")
    @Outcome(expect = FORBIDDEN, desc = "signalled after its cancel, not busy while the device works, or busy for ever")
    @State
    public static class AdmissionAgainstCancel {
        private final Stressed open = Stressed.make();

        @Actor
        public void engine() {
            open.admit();
            open.ioQueue.accept(open);
            open.ioQueue.turn(false);
        }

        @Actor
        public void canceller() {
            open.cancel();
        }

        @Arbiter
        public void after(II_Result r) {
            boolean unmarked = open.queue.isHeld() && !open.isBusy();
            open.queue.ends = true;
            open.ioQueue.turn(false);
            open.ioQueue.turn(false);
            r.r1 = open.ends.get();
            r.r2 = unmarked ? 2 : open.isBusy() ? 1 : 0;
            open.forget();
        }
    }
}
