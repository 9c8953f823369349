// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.Pack;
import io.penstock.engine.queue.DeliveryLoop;
import io.penstock.engine.queue.Port;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/**
 * One subscription of a {@link FluxPack}: the demand, the packs that its {@link PackLoop} has filled, in their order,
 * and one terminal signal, when no call for it is in flight.
 */
final class PackSubscription extends DeliveryLoop implements Subscription {

    private static final AtomicLongFieldUpdater<PackSubscription> DEMAND =
            AtomicLongFieldUpdater.newUpdater(PackSubscription.class, "demand");

    private final Pack.Plan plan;
    private final CoreSubscriber<? super Pack> actual;
    private final Port port;
    private final Queue<FilePack> packs = new ConcurrentLinkedQueue<>(); // in their order, some still being copied
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicBoolean stopped = new AtomicBoolean(); // by the cancel, or the terminal signal
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile long demand; // less the packs that were begun
    private volatile boolean ended; // the loop has
    private @Nullable PackLoop loop; // written before onSubscribe

    PackSubscription(
            Port port, Pack.Plan plan, CoreSubscriber<? super Pack> actual, Scheduler.@Nullable Worker worker) {
        super(worker);
        this.port = port;
        this.plan = plan;
        this.actual = actual;
    }

    void begin(PackLoop filling) {
        loop = filling;
        actual.onSubscribe(this);
        filling.start();
    }

    CoreSubscriber<? super Pack> actual() {
        return actual;
    }

    // The loop's thread.

    /** Returns whether a pack may be begun. */
    boolean permits() {
        return demand > 0 && open.get() < plan.depth();
    }

    /** Begins a pack. */
    FilePack pack() {
        FilePack pack = FilePack.begin(port, plan.packBytes(), this::closed);
        open.incrementAndGet();
        Operators.produced(DEMAND, this, 1);
        packs.add(pack);
        return pack;
    }

    /** Notes that nothing is in flight any more, and nothing will be. */
    void end() {
        ended = true;
        signal();
    }

    // Any thread.

    private void closed() {
        open.decrementAndGet();
        wake();
    }

    private void wake() {
        PackLoop known = loop;
        if (known != null) {
            known.wake();
        }
    }

    /** Returns whether nothing more is to be read. */
    boolean isOver() {
        return stopped.get() || failure.get() != null;
    }

    /** Ends it with an error, once the packs before have been delivered. */
    void fail(Throwable cause) {
        if (!failure.compareAndSet(null, cause)) {
            Operators.onErrorDropped(cause, actual.currentContext());
        }
        wake();
    }

    @Override
    public void request(long n) {
        if (n <= 0) {
            fail(new IllegalArgumentException("request of " + n + " (Reactive Streams 3.9)"));
        } else {
            Operators.addCap(DEMAND, this, n);
            wake();
        }
    }

    @Override
    public void cancel() {
        if (stopped.compareAndSet(false, true)) {
            wake();
            signalHere();
        }
    }

    @Override
    protected void turn() {
        for (FilePack next = packs.peek(); next != null && next.isFilled(); next = packs.peek()) {
            packs.remove();
            Throwable broken = next.failure();
            if (broken != null) {
                fail(broken);
            }
            if (broken != null || next.isDropped() || stopped.get()) {
                next.close();
            } else {
                actual.onNext(next);
            }
        }
        if (ended && packs.isEmpty()) {
            finish();
        }
    }

    private void finish() {
        over();
        if (stopped.compareAndSet(false, true)) {
            Throwable cause = failure.get();
            if (cause == null) {
                actual.onComplete();
            } else {
                actual.onError(cause);
            }
        }
    }

    @Override
    protected void rejected(RejectedExecutionException cause) {
        failure.compareAndSet(null, Operators.onRejectedExecution(cause, actual.currentContext()));
        wake();
    }

    @Override
    protected void crashed(Throwable cause) {
        cancel();
        Operators.onErrorDropped(cause, actual.currentContext());
    }
}
