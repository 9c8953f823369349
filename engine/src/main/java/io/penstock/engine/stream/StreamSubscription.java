// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.Chunk;
import io.penstock.HostLease;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.engine.queue.Port;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Failures;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Fuseable;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * One subscription of a {@link FluxStream}.
 *
 * <p>Buffers cycle through: free, being read, read, lent, free. Leases that the application has retained keep theirs;
 * the stream continues with the others and waits when none is left. A terminal signal waits for functions and fences,
 * not for retained leases: the application closes these after it.
 */
final class StreamSubscription<T> extends ChunkSubscription implements Fuseable.QueueSubscription<T> {

    /** The buffer size for a file that reports no length: mostly it is empty. */
    private static final long MOST_UNSTATED = 4 << 20;

    private final StreamPlan plan;
    private final Function<? super Chunk, ? extends Publisher<? extends T>> function;
    // Null once it is over (Reactive Streams 3.13): a lease that a queue of the subscriber holds when it is dropped
    // would
    // be reachable from the cleaner of that lease, through its lender, and never be found.
    private volatile @Nullable CoreSubscriber<? super T> actual;
    private final Context context;

    private final AtomicLong requested = new AtomicLong(); // total ever requested
    private final AtomicInteger fencesPending = new AtomicInteger();

    private @Nullable FusedElements<T> fused; // written in onSubscribe, before the stream starts

    // A turn writes it and then reads stopped, cancel() writes stopped and then reads it: one of them stops the use.
    private volatile @Nullable ChunkUse<T> use;

    // Turns only.
    private @Nullable ChunkUse<T> dropped; // by a failure; no terminal signal while it emits
    private @Nullable ChunkReads reads;
    private final ArrayDeque<ChunkLease> held = new ArrayDeque<>(); // beyond their function
    private final LeaseWatch watch;
    private long index;
    private long emitted; // by the uses that are over
    private long length; // of a whole file at its opening; 0 for regions, and where it is not stated
    private long moved; // bytes of all chunks so far
    private @Nullable Throwable failure;

    StreamSubscription(
            Port port,
            StreamPlan plan,
            Function<? super Chunk, ? extends Publisher<? extends T>> function,
            CoreSubscriber<? super T> actual,
            Scheduler.@Nullable Worker worker) {
        super(port, plan.depth(), actual.currentContext(), worker);
        this.plan = plan;
        this.function = function;
        this.actual = actual;
        this.watch = new LeaseWatch("the stream of", plan.path());
        this.context = Operators.enableOnDiscard(subscriber(), this::discard);
    }

    private void discard(Object element) {
        if (element instanceof HostLease lease) {
            lease.close();
        }
        Operators.onDiscard(element, subscriber());
    }

    /** Returns the subscriber's context, with a hook that closes the leases discarded by a publisher in use. */
    Context context() {
        return context;
    }

    @Override
    public void request(long n) {
        if (n > 0) {
            requested.accumulateAndGet(n, Operators::addCap);
            signal();
        } else {
            breakOff(new IllegalArgumentException("request of " + n + " (Reactive Streams 3.9)"));
        }
    }

    /**
     * {@inheritDoc} Agrees to ASYNC, across threads too: a subscriber that changes threads, such as {@code publishOn},
     * then has no queue of its own, which it would lose where a cancel overtakes its thread.
     */
    @Override
    public int requestFusion(int requestedMode) {
        if ((requestedMode & Fuseable.ASYNC) == 0) {
            return Fuseable.NONE;
        }
        fused = new FusedElements<>(this::discard);
        return Fuseable.ASYNC;
    }

    /** Passes an element to the subscriber; by one publisher at a time. */
    @SuppressWarnings("NullAway") // null announces an element of the queue
    void emit(T element) {
        CoreSubscriber<? super T> subscriber = actual;
        if (subscriber == null) {
            discard(element);
        } else if (fused == null) {
            subscriber.onNext(element);
        } else {
            fused.add(element);
            subscriber.onNext(null);
        }
    }

    @Override
    public @Nullable T poll() {
        return fused == null ? null : fused.poll();
    }

    @Override
    public int size() {
        return fused == null ? 0 : fused.size();
    }

    @Override
    public boolean isEmpty() {
        return size() == 0;
    }

    @Override
    public void clear() {
        if (fused != null) {
            fused.clear();
        }
    }

    /** Also after the terminal signal: then there may be elements that the subscriber has not polled. */
    @Override
    public void cancel() {
        super.cancel();
        if (fused != null) {
            fused.cancel();
        }
    }

    @Override
    void cancelInner() {
        ChunkUse<T> current = use;
        if (current != null) {
            current.cancel();
        }
    }

    @Override
    protected void turn() {
        Throwable broken = takeBroken();
        if (broken != null) {
            fail(broken);
        }
        ChunkReads ahead = reads();
        if (ahead != null) {
            useChunks(ahead);
        }
        if (!isStopped() && isDone()) {
            end();
        }
        if (isStopped()) {
            tidy();
        } else {
            watch.waits(waitsForLeases() ? oldestHeld() : null);
        }
    }

    /** Returns whether nothing will happen until a lease ends that its function has left. */
    private boolean waitsForLeases() {
        if (use != null || held.isEmpty()) {
            return false;
        }
        return failure != null || (reads != null && (reads.isStarved() || reads.isExhausted()));
    }

    private @Nullable ChunkLease oldestHeld() {
        held.removeIf(ChunkLease::isOver);
        return held.peek();
    }

    private @Nullable ChunkReads reads() {
        if (reads != null || failure != null || isStopped()) {
            return reads;
        }
        StorageFile file = opening().resource();
        Throwable refusal = opening().failure();
        try {
            if (refusal != null) {
                fail(refusal);
            } else if (file != null) {
                reads = readsOf(file);
            } else if (plan.path().isEmpty()) {
                reads = new ChunkReads(port(), this, buffers(), plan.regions(), plan.chunkBytes());
            }
        } catch (RuntimeException e) {
            fail(e); // the backend, and with it the file, was closed meanwhile
        }
        return reads;
    }

    /**
     * Returns the reads of a whole file. A file that reports no length, such as those in /proc, may still have bytes,
     * and sysfs reports the length of a page whatever a file has.
     */
    private ChunkReads readsOf(StorageFile file) {
        long size = file instanceof EngineFile known && !known.hasItsLength() ? 0 : file.size();
        length = size;
        return size == 0
                ? new ChunkReads(port(), this, buffers(), file, Math.min(plan.chunkBytes(), MOST_UNSTATED))
                : new ChunkReads(port(), this, buffers(), List.of(file.region(0, size)), plan.chunkBytes());
    }

    private void useChunks(ChunkReads ahead) {
        while (!isStopped() && failure == null) {
            ChunkUse<T> current = use;
            try {
                ahead.fill(); // first, so that the device reads while the function runs
                if (current == null) {
                    ChunkTransfer next = ahead.poll();
                    if (next == null) {
                        return;
                    }
                    lend(next);
                    continue;
                }
            } catch (RuntimeException | Error e) { // an Error of a driver that allocates a buffer
                fail(e);
                return;
            }
            current.grant(requested.get() == Long.MAX_VALUE ? Long.MAX_VALUE : requested.get() - emitted);
            if (!current.isOver()) {
                return;
            }
            leave(current);
        }
    }

    private void lend(ChunkTransfer read) {
        Throwable error = read.error();
        if (error != null) {
            buffers().give(read.buffer());
            fail(error);
            return;
        }
        moved += read.moved();
        long offset = read.transfer().fileOffset(0);
        ChunkLease lease = new ChunkLease(this, read.buffer(), index++, offset, read.moved());
        ChunkUse<T> next = new ChunkUse<>(this, lease);
        use = next;
        if (isStopped()) {
            return;
        }
        try {
            Publisher<? extends T> result =
                    Objects.requireNonNull(function.apply(lease), "the function returned null for a chunk");
            result.subscribe(next);
        } catch (Throwable e) {
            next.onError(thrown(e, lease));
        }
    }

    private void leave(ChunkUse<T> over) {
        use = null;
        emitted += over.emitted();
        release(over.lease());
        Throwable error = over.error();
        if (error != null) {
            fail(error);
        }
    }

    /** Stops using and reading chunks; the error is signalled when the leases have ended. */
    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
            dropUse();
            if (reads != null) {
                reads.stop();
            }
        }
    }

    private void dropUse() {
        ChunkUse<T> current = use;
        if (current != null) {
            use = null;
            dropped = current;
            current.cancel();
            release(current.lease());
        }
    }

    /** Releases the function's hold on a lease. */
    private void release(ChunkLease lease) {
        lease.release();
        if (!lease.isOver()) {
            oldestHeld(); // drops leases that are over: no more than buffers remain
            held.add(lease);
        }
    }

    private boolean isDone() {
        boolean exhausted = failure != null || (reads != null && reads.isExhausted());
        boolean quiet = use == null && (dropped == null || !dropped.isEmitting());
        return exhausted && quiet && fencesPending.get() == 0;
    }

    private void end() {
        if (!stop()) {
            return;
        }
        CoreSubscriber<? super T> subscriber = Objects.requireNonNull(actual); // nothing has stopped it before
        tidy(); // first, so that the file is closed when the subscriber is signalled
        if (failure == null && moved < length) {
            failure = Failures.shorter(plan.path().orElseThrow(), length, moved);
        }
        if (failure == null) {
            subscriber.onComplete();
        } else {
            subscriber.onError(failure);
        }
    }

    /** Frees what is not in use; also when the last lease ends after the terminal signal. */
    private void tidy() {
        watch.close();
        dropUse();
        if (reads != null) {
            reads.stop();
        }
        opening().close();
        buffers().closeFree();
        actual = null;
        over();
    }

    @Override
    public void fenceNoted() {
        fencesPending.incrementAndGet();
    }

    @Override
    public void fenceSignalled() {
        fencesPending.decrementAndGet();
        signal();
    }

    @Override
    public void leaseEnded(ChunkLease lease) {
        if (port().isPoisoning()) {
            Leases.poison(lease.memory(), lease.length());
        }
        buffers().give(lease.memory());
        signalLater();
    }
}
