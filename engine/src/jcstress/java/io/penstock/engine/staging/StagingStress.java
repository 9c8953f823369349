// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.penstock.engine.spi.staging.ThreadRule;
import io.penstock.engine.spi.Request;
import io.penstock.engine.kit.ffi.CpuSet;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * {@link StagingBuffers} and {@link StagedRequest}: a free staging buffer and a waiting request always meet, and a
 * request has one holder.
 */
public final class StagingStress {

    private StagingStress() {}

    private static StagedRequest staged(@Nullable StagedQueue queue, int tag) {
        Request request = new Request(tag, (ended, bytes, failure) -> {});
        return new StagedRequest(queue, request.file(Request.Kind.READ, new FakeFile(1, 1, 1), 0, 1));
    }

    /** Returns 1 if a request has a permit and finds its staging buffer; else 0. */
    private static int has(Held held, StagedRequest staged) {
        staged.takeBuffer(held.pool);
        return staged.hasBuffer() ? 1 : 0;
    }

    /** A queue without threads, and a pool of one staging buffer that its first request has. */
    private static final class Held {
        private static final int STAGING = 4096;

        final StagedQueue queue;
        final StagingBuffers pool;
        final StagedRequest first;

        Held() {
            FakeHost host = new FakeHost(8 * STAGING, 1);
            FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 2);
            queue = new StagedQueue(
                    device, host, StagingSettings.of(STAGING, 1, 4), StagingWorkers.stepped(1), null, null);
            pool = new StagingBuffers(device, CpuSet.ANY, host, 1, STAGING, 1);
            first = staged(queue, 0);
            pool.admit(first);
            first.takeBuffer(pool);
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the request has the staging buffer")
    @Outcome(expect = FORBIDDEN, desc = "a free staging buffer beside a request that waits for ever")
    @State
    public static class ReleaseAgainstAdmit {
        private final Held held = new Held();
        private final StagedRequest staged = staged(held.queue, 1);

        @Actor
        public void worker() {
            held.first.releaseBuffer(held.pool);
        }

        @Actor
        public void ioQueue() {
            held.pool.admit(staged);
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = has(held, staged);
            r.r2 = held.pool.free();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "one of the two has the staging buffer, the other waits")
    @Outcome(expect = FORBIDDEN, desc = "both have it, or it lies there")
    @State
    public static class ReleaseAgainstTwoAdmits {
        private final Held held = new Held();
        private final StagedRequest one = staged(held.queue, 1);
        private final StagedRequest other = staged(held.queue, 2);

        @Actor
        public void worker() {
            held.first.releaseBuffer(held.pool);
        }

        @Actor
        public void ioQueue() {
            held.pool.admit(one);
        }

        @Actor
        public void otherQueue() {
            held.pool.admit(other);
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = has(held, one) + has(held, other);
            r.r2 = held.pool.free();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "taken to be filled; the cancel left a mark")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "taken back by the cancel")
    @Outcome(expect = FORBIDDEN, desc = "two holders, or none")
    @State
    public static class TakeAgainstCancel {
        private final StagedRequest staged = staged(null, 0);

        public TakeAgainstCancel() {
            staged.giveTo(StagedRequest.AWAITS_BUFFER);
        }

        @Actor
        public void pool(II_Result r) {
            r.r1 = staged.takeFrom(StagedRequest.AWAITS_BUFFER) ? 1 : 0;
        }

        @Actor
        public void ioQueue(II_Result r) {
            r.r2 = staged.cancel() == StagedRequest.AWAITS_BUFFER ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "given away, then taken back by the cancel")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "cancelled first: its holder sees that, and ends it")
    @Outcome(expect = FORBIDDEN, desc = "handed over although cancelled, and never ended")
    @State
    public static class GiveAgainstCancel {
        private final StagedRequest staged = staged(null, 0);

        @Actor
        public void holder(II_Result r) {
            r.r2 = staged.giveTo(StagedRequest.AWAITS_EXECUTOR) ? 0 : 1;
        }

        @Actor
        public void ioQueue(II_Result r) {
            r.r1 = staged.cancel() == StagedRequest.AWAITS_EXECUTOR ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "one of the two takers has it")
    @Outcome(expect = FORBIDDEN, desc = "both or neither")
    @State
    public static class TakeAgainstTake {
        private final StagedRequest staged = staged(null, 0);
        private int one;
        private int other;

        public TakeAgainstTake() {
            staged.giveTo(StagedRequest.AWAITS_BUFFER);
        }

        @Actor
        public void one() {
            one = staged.takeFrom(StagedRequest.AWAITS_BUFFER) ? 1 : 0;
        }

        @Actor
        public void other() {
            other = staged.takeFrom(StagedRequest.AWAITS_BUFFER) ? 1 : 0;
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = one + other;
        }
    }
}
