// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.penstock.engine.spi.Request;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link SlotPool} and {@link Piece}: a free slot and a waiting piece always meet, and a piece has one holder. */
public final class StagingStress {

    private StagingStress() {}

    private static Piece piece(@Nullable StagedQueue queue, int tag) {
        return new Piece(queue, new Request(tag, (request, bytes, failure) -> {}));
    }

    /** A queue without threads, and a pool of one slot that its first piece has. */
    private static final class Staged {
        private static final int SLOT = 4096;

        final StagedQueue queue;
        final SlotPool pool;
        final Piece first;
        final Slot slot;

        Staged() {
            FakeHost host = new FakeHost(8 * SLOT, 1);
            FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 2);
            queue = new StagedQueue(
                    device, host, new SlotSizes(SLOT, 1, 0, 4), FillerPool.stepped(1), null, null);
            pool = new SlotPool(device, host, 1, SLOT);
            first = piece(queue, 0);
            pool.assign(first);
            slot = first.giveUpSlot();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the piece has the slot")
    @Outcome(expect = FORBIDDEN, desc = "a free slot beside a piece that waits for ever")
    @State
    public static class ReleaseAgainstAssign {
        private final Staged staged = new Staged();
        private final Piece piece = piece(staged.queue, 1);

        @Actor
        public void filler() {
            staged.pool.release(staged.slot);
        }

        @Actor
        public void lane() {
            staged.pool.assign(piece);
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = piece.hasSlot() ? 1 : 0;
            r.r2 = staged.pool.free();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "one of the two has the slot, the other waits")
    @Outcome(expect = FORBIDDEN, desc = "both have it, or it lies there")
    @State
    public static class ReleaseAgainstTwoAssigns {
        private final Staged staged = new Staged();
        private final Piece one = piece(staged.queue, 1);
        private final Piece other = piece(staged.queue, 2);

        @Actor
        public void filler() {
            staged.pool.release(staged.slot);
        }

        @Actor
        public void lane() {
            staged.pool.assign(one);
        }

        @Actor
        public void otherLane() {
            staged.pool.assign(other);
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = (one.hasSlot() ? 1 : 0) + (other.hasSlot() ? 1 : 0);
            r.r2 = staged.pool.free();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "taken to be filled; the cancel left a mark")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "taken back by the cancel")
    @Outcome(expect = FORBIDDEN, desc = "two holders, or none")
    @State
    public static class TakeAgainstCancel {
        private final Piece piece = piece(null, 0);

        public TakeAgainstCancel() {
            piece.giveTo(Piece.AWAITS_SLOT);
        }

        @Actor
        public void pool(II_Result r) {
            r.r1 = piece.takeFrom(Piece.AWAITS_SLOT) ? 1 : 0;
        }

        @Actor
        public void lane(II_Result r) {
            r.r2 = piece.cancel() == Piece.AWAITS_SLOT ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "given away, then taken back by the cancel")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "cancelled first: its holder sees that, and ends it")
    @Outcome(expect = FORBIDDEN, desc = "given away although cancelled, with nobody to end it")
    @State
    public static class GiveAgainstCancel {
        private final Piece piece = piece(null, 0);

        @Actor
        public void holder(II_Result r) {
            r.r2 = piece.giveTo(Piece.AWAITS_EXECUTOR) ? 0 : 1;
        }

        @Actor
        public void lane(II_Result r) {
            r.r1 = piece.cancel() == Piece.AWAITS_EXECUTOR ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "one of the two takers has it")
    @Outcome(expect = FORBIDDEN, desc = "both or neither")
    @State
    public static class TakeAgainstTake {
        private final Piece piece = piece(null, 0);
        private int one;
        private int other;

        public TakeAgainstTake() {
            piece.giveTo(Piece.AWAITS_SLOT);
        }

        @Actor
        public void one() {
            one = piece.takeFrom(Piece.AWAITS_SLOT) ? 1 : 0;
        }

        @Actor
        public void other() {
            other = piece.takeFrom(Piece.AWAITS_SLOT) ? 1 : 0;
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = one + other;
        }
    }
}
