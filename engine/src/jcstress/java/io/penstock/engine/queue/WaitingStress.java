// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.order.OrderKeys;
import io.penstock.engine.order.WriteBarrier;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.resource.Identity;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.penstock.Transfer;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** A waiter behind another is called once: {@link BusyRegions}, {@link WriteBarrier}, {@link OrderKeys}. */
public final class WaitingStress {

    private WaitingStress() {}

    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "nothing is busy any more")
    @Outcome(expect = FORBIDDEN, desc = "busy for ever")
    @State
    public static class AbandonedAddedAgainstRemoved {
        private final BusyRegions regions = new BusyRegions();
        private final BusyRegions.AbandonedTransfer abandoned = new BusyRegions.AbandonedTransfer(Extents.of(Stressed.read(), Identity.OF));

        @Actor
        public void canceller() {
            regions.add(abandoned);
        }

        @Actor
        public void ioQueue() {
            regions.remove(abandoned);
        }

        @Arbiter
        public void after(I_Result r) {
            r.r1 = regions.isEmpty() ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "waited, and was resumed")
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "did not wait: it was over")
    @Outcome(expect = FORBIDDEN, desc = "waits for ever, or was resumed without waiting")
    @State
    public static class WaitBehindAgainstRemove {
        private final Transfer transfer = Stressed.read();
        private final BusyRegions regions = new BusyRegions();
        private final BusyRegions.AbandonedTransfer abandoned = new BusyRegions.AbandonedTransfer(Extents.of(transfer, Identity.OF));
        private final AtomicInteger resumed = new AtomicInteger();

        public WaitBehindAgainstRemove() {
            regions.add(abandoned);
        }

        @Actor
        public void later(II_Result r) {
            r.r1 = regions.waitsBehind(Extents.of(transfer, Identity.OF), resumed::incrementAndGet) ? 1 : 0;
        }

        @Actor
        public void ioQueue() {
            regions.remove(abandoned);
        }

        @Arbiter
        public void after(II_Result r) {
            r.r2 = resumed.get();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the sync ran once, after the write")
    @Outcome(expect = FORBIDDEN, desc = "never, twice, or before a write that it covers had ended")
    @State
    public static class SyncAgainstEndedWrite {
        private final WriteBarrier barrier = new WriteBarrier();
        private final WriteBarrier.Epoch write = barrier.accept();
        private final AtomicInteger written = new AtomicInteger();
        private final AtomicInteger syncs = new AtomicInteger();
        private int seen;

        @Actor
        public void ioQueue() {
            written.incrementAndGet();
            barrier.ended(write);
        }

        @Actor
        public void subscriber() {
            barrier.sync(() -> {
                seen = written.get();
                syncs.incrementAndGet();
            });
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = syncs.get();
            r.r2 = seen;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the line was empty again: it may run at once")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "it waited, and was called")
    @Outcome(expect = FORBIDDEN, desc = "it waits for ever, or runs twice")
    @State
    public static class LeaveAgainstEnter {
        private final OrderKeys keys = new OrderKeys();
        private final AtomicInteger called = new AtomicInteger();
        private final OrderKeys.Turn first = new OrderKeys.Turn("key", () -> {});
        private final OrderKeys.Turn second = new OrderKeys.Turn("key", called::incrementAndGet);

        public LeaveAgainstEnter() {
            keys.enter(first);
        }

        @Actor
        public void ioQueue() {
            keys.leave(first);
        }

        @Actor
        public void subscriber(II_Result r) {
            r.r1 = keys.enter(second) ? 1 : 0;
        }

        @Arbiter
        public void after(II_Result r) {
            r.r2 = called.get();
        }
    }

    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "it gave up before it was its turn")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "it was called, and left at once")
    @Outcome(expect = FORBIDDEN, desc = "the key stays in use")
    @State
    public static class LeaveAgainstGiveUp {
        private final OrderKeys keys = new OrderKeys();
        private final AtomicInteger called = new AtomicInteger();
        private final OrderKeys.Turn first = new OrderKeys.Turn("key", () -> {});
        private final OrderKeys.Turn second = new OrderKeys.Turn("key", called::incrementAndGet);

        public LeaveAgainstGiveUp() {
            keys.enter(first);
            keys.enter(second);
        }

        @Actor
        public void ioQueue() {
            keys.leave(first);
        }

        @Actor
        public void subscriber() {
            keys.leave(second);
        }

        @Arbiter
        public void after(II_Result r) {
            r.r1 = called.get();
            r.r2 = keys.size();
        }
    }

    /** The one before ends while this one is on its way to its I/O queue. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "started and signalled once")
    @Outcome(expect = FORBIDDEN, desc = "never, twice, or before its I/O queue had it")
    @State
    public static class LeaveAgainstAdmission {
        private final OrderKeys keys = new OrderKeys();
        private final OrderKeys.Turn first = new OrderKeys.Turn("key", () -> {});
        private final Stressed open = Stressed.makeOrdered("key");

        public LeaveAgainstAdmission() {
            keys.enter(first);
        }

        @Actor
        public void ioQueue() {
            keys.leave(first);
            open.ioQueue.turn(false);
        }

        @Actor
        public void subscriber() {
            Admission terms = Admission.of(open, open.ioQueue, null);
            open.admission(terms);
            terms.enter(keys, open.ioQueue, open);
            open.admit();
            open.ioQueue.accept(open);
        }

        @Arbiter
        public void after(II_Result r) {
            open.queue.ends = true;
            for (int i = 0; i < 4; i++) {
                open.ioQueue.turn(false);
            }
            r.r1 = open.queue.commands;
            r.r2 = open.ends.get();
            open.forget();
        }
    }
}
