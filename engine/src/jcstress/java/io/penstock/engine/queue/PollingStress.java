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

/** A task that is offered to a {@link PollingWorker}. */
public final class PollingStress {

    private PollingStress() {}

    @JCStressTest
    @Outcome(id = "1, 7", expect = ACCEPTABLE, desc = "it was taken, and ran once, with what was written before the offer")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "it was refused, and did not run")
    @Outcome(expect = FORBIDDEN, desc = "it was lost, or ran twice, or too early")
    @State
    public static class OfferAgainstEnd {
        private final PollingWorker worker = new PollingWorker(Long.MAX_VALUE >> 1); // never sleeps
        private int written; // before the offer
        private int seen;
        private boolean taken;

        @Actor
        public void worker() {
            worker.run();
        }

        @Actor
        public void ioQueue() {
            written = 7;
            taken = worker.offer(() -> seen += written);
            worker.end();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = taken ? 1 : 0;
            r.r2 = seen;
        }
    }
}
