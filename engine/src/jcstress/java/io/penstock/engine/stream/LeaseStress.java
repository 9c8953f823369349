// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.engine.FakeBuffer;


import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.penstock.ClosedException;
import io.penstock.HostLease;
import io.penstock.HostView;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link ChunkLease} and what is retained of it: memory goes back once, when it has no holders left. */
public final class LeaseStress {

    private LeaseStress() {}

    private static final class Lender implements ChunkLease.Lender {
        final FakeBuffer memory = new FakeBuffer(1, true);
        final AtomicInteger ended = new AtomicInteger();

        @Override
        public boolean isDetectingLeaks() {
            return false;
        }

        @Override
        public void fenceNoted() {}

        @Override
        public void fenceSignalled() {}

        @Override
        public void leaseEnded(ChunkLease lease) {
            memory.bytes[0] = -1; // as the next user of the memory would
            ended.incrementAndGet();
        }

        ChunkLease lend() {
            return new ChunkLease(this, memory, 0, 0, 1);
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "retained first: the memory is kept until that lease is closed")
    @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "released first: nothing to retain")
    @Outcome(expect = FORBIDDEN, desc = "freed while retained, never or twice")
    @State
    public static class ReleaseAgainstRetain {
        private final Lender lender = new Lender();
        private final ChunkLease lease = lender.lend();

        @Actor
        public void function() {
            lease.release();
        }

        @Actor
        public void retainer(III_Result r) {
            HostLease retained;
            try {
                retained = lease.retain();
            } catch (ClosedException over) {
                return;
            }
            r.r1 = 1;
            r.r2 = lender.ended.get();
            retained.close();
        }

        @Arbiter
        public void after(III_Result r) {
            r.r3 = lender.ended.get();
        }
    }

    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "given back once")
    @Outcome(expect = FORBIDDEN, desc = "never or twice")
    @State
    public static class CloseAgainstCloseOfOneRetained {
        private final Lender lender = new Lender();
        private final ChunkLease lease = lender.lend();
        private final HostLease retained = lease.retain();

        public CloseAgainstCloseOfOneRetained() {
            lease.release();
        }

        @Actor
        public void holder() {
            retained.close();
        }

        @Actor
        public void discarder() {
            retained.close();
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = lender.ended.get();
        }
    }

    @JCStressTest
    @Outcome(id = "7", expect = ACCEPTABLE, desc = "read while the lease lasted")
    @Outcome(id = "-2", expect = ACCEPTABLE, desc = "refused: the lease is over")
    @Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "read what the next user wrote: documented, never freed memory")
    @Outcome(expect = FORBIDDEN, desc = "read something else")
    @State
    public static class ViewAgainstRelease {
        private final Lender lender = new Lender();
        private final ChunkLease lease = lender.lend();
        private final HostView view;

        public ViewAgainstRelease() {
            lender.memory.bytes[0] = 7;
            view = lease.view();
        }

        @Actor
        public void reader(I_Result r) {
            try {
                r.r1 = view.get(0);
            } catch (ClosedException over) {
                r.r1 = -2;
            }
        }

        @Actor
        public void function() {
            lease.release();
        }
    }
}
