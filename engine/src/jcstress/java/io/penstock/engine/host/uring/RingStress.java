// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** The heads and tails of an io_uring, in memory as the kernel lays it out; {@link RingPartner} plays the kernel. */
public final class RingStress {

    private static final long FIRST = 11;
    private static final long SECOND = 22;

    private RingStress() {}

    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing there yet")
    @Outcome(id = "11, 7", expect = ACCEPTABLE, desc = "a whole completion")
    @Outcome(expect = FORBIDDEN, desc = "a completion of which a part is missing")
    @State
    public static class CompletionAgainstDrain {
        private final RingPartner kernel = new RingPartner();
        private final CompletionQueue completions = new CompletionQueue(kernel.memory);

        @Actor
        public void kernel() {
            kernel.complete(FIRST, 7);
        }

        @Actor
        public void ioQueue(JJ_Result r) {
            completions.drain((userData, result, flags) -> {
                r.r1 = userData;
                r.r2 = result;
            });
        }
    }

    @JCStressTest
    @Outcome(id = "11, 0", expect = ACCEPTABLE, desc = "the first completion; its place was not free yet for a second")
    @Outcome(id = "11, 1", expect = ACCEPTABLE, desc = "the first completion; then the kernel used its place again")
    @Outcome(expect = FORBIDDEN, desc = "the place was used again while the I/O queue read it")
    @State
    public static class DrainAgainstReuseOfTheCompletion {
        private final RingPartner kernel = new RingPartner();
        private final CompletionQueue completions = new CompletionQueue(kernel.memory);

        public DrainAgainstReuseOfTheCompletion() {
            kernel.complete(FIRST, 7);
        }

        @Actor
        public void ioQueue(JJ_Result r) {
            completions.drain((userData, result, flags) -> r.r1 = result == 7 ? userData : -1);
        }

        @Actor
        public void kernel(JJ_Result r) {
            r.r2 = kernel.completeIfThereIsRoom(SECOND, 8) ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not published yet")
    @Outcome(id = "11, 1", expect = ACCEPTABLE, desc = "a whole operation")
    @Outcome(expect = FORBIDDEN, desc = "an operation of which a part is missing")
    @State
    public static class PublishAgainstConsume {
        private final RingPartner kernel = new RingPartner();
        private final SubmissionQueue submissions = new SubmissionQueue(kernel.memory);

        @Actor
        public void ioQueue() {
            submissions.read(0, 1, 1, 1, 1, FIRST);
            submissions.publish();
        }

        @Actor
        public void kernel(JJ_Result r) {
            kernel.consume(r);
        }
    }

    @JCStressTest
    @Outcome(id = "11, 1", expect = ACCEPTABLE, desc = "the kernel took the first operation, whatever came after it")
    @Outcome(expect = FORBIDDEN, desc = "the second operation was written over the first")
    @State
    public static class ConsumeAgainstReuseOfTheSubmission {
        private final RingPartner kernel = new RingPartner();
        private final SubmissionQueue submissions = new SubmissionQueue(kernel.memory);

        public ConsumeAgainstReuseOfTheSubmission() {
            submissions.read(0, 1, 1, 1, 1, FIRST);
            submissions.publish();
        }

        @Actor
        public void kernel(JJ_Result r) {
            kernel.consume(r);
        }

        @Actor
        public void ioQueue() {
            submissions.read(0, 2, 2, 2, 2, SECOND); // refused as long as the first is there
        }
    }
}
