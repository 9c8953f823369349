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
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link BlockLocks}: no read-modify-write beside another write, and every wait ends (rule 206). */
public final class BlockLocksStress {

    private BlockLocksStress() {}

    /** A write of one block, from lock to unlock, on whatever thread its lock is granted. */
    private static final class Write {
        private final BlockLocks locks;
        private final AtomicInteger inside;
        private final AtomicInteger overlaps;
        private final BlockClaim claim;
        int done;

        Write(BlockLocks locks, AtomicInteger inside, AtomicInteger overlaps, boolean exclusive) {
            this.locks = locks;
            this.inside = inside;
            this.overlaps = overlaps;
            BlockClaim made = new BlockClaim(claim -> write());
            this.claim = exclusive ? made.exclusive(0, 512) : made.shared(10, 10);
        }

        void start() {
            if (locks.lock(claim)) {
                write();
            }
        }

        private void write() {
            if (inside.getAndIncrement() != 0) {
                overlaps.incrementAndGet();
            }
            inside.decrementAndGet();
            done++;
            locks.unlock(claim);
        }
    }

    @JCStressTest
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "both wrote, one after the other")
    @Outcome(expect = FORBIDDEN, desc = "at a time, twice or never")
    @State
    public static class LightAgainstExclusive {
        private final BlockLocks locks = BlockLocks.open(this);
        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();
        private final Write plain = new Write(locks, inside, overlaps, false);
        private final Write merging = new Write(locks, inside, overlaps, true);

        @Actor
        public void plain() {
            plain.start();
        }

        @Actor
        public void merging() {
            merging.start();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = plain.done + merging.done;
            r.r2 = overlaps.get();
            locks.close();
        }
    }

    @JCStressTest
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "both wrote, one after the other")
    @Outcome(expect = FORBIDDEN, desc = "at a time, twice or never")
    @State
    public static class ExclusiveAgainstExclusive {
        private final BlockLocks locks = BlockLocks.open(this);
        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();
        private final Write one = new Write(locks, inside, overlaps, true);
        private final Write other = new Write(locks, inside, overlaps, true);

        @Actor
        public void one() {
            one.start();
        }

        @Actor
        public void other() {
            other.start();
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = one.done + other.done;
            r.r2 = overlaps.get();
            locks.close();
        }
    }

    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "granted once: at once, or when the light writes had drained")
    @Outcome(expect = FORBIDDEN, desc = "never or twice")
    @State
    public static class DrainAgainstExclusive {
        private final BlockLocks locks = BlockLocks.open(this);
        private final AtomicInteger granted = new AtomicInteger();
        private final BlockClaim light = new BlockClaim(claim -> {}).shared(0, 1);
        private final BlockClaim merging = new BlockClaim(claim -> granted.incrementAndGet()).exclusive(0, 512);

        public DrainAgainstExclusive() {
            locks.lock(light);
        }

        @Actor
        public void light() {
            locks.unlock(light);
        }

        @Actor
        public void merging() {
            if (locks.lock(merging)) {
                granted.incrementAndGet();
            }
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = granted.get();
            locks.close();
        }
    }
}
