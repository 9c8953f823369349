// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.Chunk;
import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.WritePlan;
import io.penstock.engine.publisher.DelayedErrors;
import io.penstock.engine.queue.Port;
import io.penstock.engine.resource.EngineFile;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * One subscription of a {@link MonoWrite}.
 *
 * <p>Buffers cycle through: free, lent to be filled, waiting for fences, being written, free. After the first error no
 * chunk is filled; chunks filled before are written, and then the error is signalled.
 */
final class WriteSubscription extends ChunkSubscription {

    private final WritePlan plan;
    private final Function<? super Chunk, ? extends Publisher<Long>> function;
    private @Nullable CoreSubscriber<? super Long> actual; // turns only; null once it is over
    private volatile boolean requested;

    // A turn writes it and then reads stopped, cancel() writes stopped and then reads it: one of them stops the fill.
    private volatile @Nullable ChunkFill fill;

    // Turns only.
    private final DelayedErrors errors = new DelayedErrors();
    private final ChunkWrites writes;
    private final LeaseWatch watch;
    private @Nullable FileRegion region;
    private long position; // in the region
    private long index;
    private boolean full;
    private @Nullable Disposable sync;
    private volatile boolean synced; // by the sync's thread, which then signals
    private boolean closing; // the file of the plan
    private volatile boolean closed; // by the thread that has closed it, which then signals

    WriteSubscription(
            Port port,
            WritePlan plan,
            Function<? super Chunk, ? extends Publisher<Long>> function,
            CoreSubscriber<? super Long> actual,
            Scheduler.@Nullable Worker worker) {
        super(port, plan.depth(), actual.currentContext(), worker);
        this.plan = plan;
        this.function = function;
        this.actual = actual;
        this.writes = new ChunkWrites(port, this, buffers(), errors);
        this.watch = new LeaseWatch("the write to", plan.path());
    }

    @Override
    public void request(long n) {
        if (n > 0) {
            requested = true;
            signal();
        } else {
            breakOff(new IllegalArgumentException("request of " + n + " (Reactive Streams 3.9)"));
        }
    }

    @Override
    void cancelInner() {
        ChunkFill current = fill;
        if (current != null) {
            current.cancel();
        }
    }

    @Override
    protected void turn() {
        Throwable broken = takeBroken();
        if (broken != null) {
            errors.add(broken);
            dropFill();
        }
        FileRegion to = isStopped() ? null : region();
        if (to != null) {
            fillChunks(to);
        }
        if (!isStopped() && fill == null && (errors.first() != null || full) && writes.isIdle()) {
            end();
        }
        if (isStopped()) {
            tidy();
        } else {
            watch.waits(fill == null ? writes.waitedFor() : null);
        }
    }

    /** Returns the region to write, or null if the file is not open yet, or could not be opened. */
    private @Nullable FileRegion region() {
        if (region != null) {
            return region;
        }
        StorageFile file = opening().resource();
        Throwable refusal = opening().failure();
        if (file != null) {
            long start = plan.appends() ? file.attributes().size() : 0;
            region = file.region(start, Long.MAX_VALUE - start);
        } else if (plan.region().isPresent()) {
            region = plan.region().get();
        } else if (refusal != null && errors.first() == null) {
            errors.add(refusal);
        }
        return region;
    }

    private void fillChunks(FileRegion to) {
        while (!isStopped()) {
            writes.proceed(to.file());
            ChunkFill current = fill;
            if (current != null) {
                if (!current.isOver()) {
                    return;
                }
                leave(current);
                continue;
            }
            full |= position == to.length();
            if (full || errors.first() != null || !lend(to)) {
                return;
            }
        }
    }

    private boolean lend(FileRegion to) {
        DeviceBuffer memory;
        try {
            memory = buffers().take(Math.min(plan.chunkBytes(), to.length()));
        } catch (RuntimeException | Error e) { // an Error of a driver that allocates
            errors.add(e);
            return false;
        }
        if (memory == null) {
            return false;
        }
        long length = Math.min(plan.chunkBytes(), to.length() - position);
        ChunkLease lease = new ChunkLease(this, memory, index++, to.offset() + position, length);
        ChunkFill next = new ChunkFill(this, lease, subscriber());
        fill = next;
        if (isStopped()) {
            return false;
        }
        try {
            Publisher<Long> result =
                    Objects.requireNonNull(function.apply(lease), "the function returned null for a chunk");
            result.subscribe(next);
        } catch (Throwable e) {
            next.onError(thrown(e, lease));
        }
        return true;
    }

    /** Releases the function's hold on a lease. */
    private void leave(ChunkFill over) {
        fill = null;
        Throwable error = over.error();
        if (error != null) {
            errors.add(error);
        }
        full |= over.count() == 0;
        position += over.count();
        writes.add(over.lease(), over.count());
        over.lease().release();
    }

    private void dropFill() {
        ChunkFill current = fill;
        if (current != null) {
            fill = null;
            current.cancel();
            writes.add(current.lease(), 0);
            current.lease().release();
        }
    }

    private void end() {
        Throwable error = errors.first();
        FileRegion to = region;
        if (error == null && to != null && plan.syncs() && !synced) {
            if (sync == null) {
                sync = to.file().sync().subscribe(nothing -> {}, this::breakOff, this::syncEnded);
            }
            return;
        }
        if (error == null && !closed && opening().resource() instanceof EngineFile own) {
            if (!closing) {
                closing = true;
                own.close(this::fileClosed);
            }
            return;
        }
        if ((error == null && !requested) || !stop()) {
            return;
        }
        CoreSubscriber<? super Long> subscriber = Objects.requireNonNull(actual); // nothing has stopped it before
        tidy(); // first, so that the file is closed when the subscriber is signalled
        if (error != null) {
            subscriber.onError(error);
        } else {
            subscriber.onNext(writes.bytes());
            subscriber.onComplete();
        }
    }

    /** A server may say only now that it did not keep what was written. */
    private void fileClosed(@Nullable PenstockException late) {
        if (late != null) {
            breakOff(late);
        }
        closed = true;
        signal();
    }

    private void syncEnded() {
        synced = true;
        signal();
    }

    /** Frees what is not in use; also when the last lease ends after the terminal signal. */
    private void tidy() {
        watch.close();
        dropFill();
        writes.stop();
        if (sync != null) {
            sync.dispose();
        }
        opening().close();
        buffers().closeFree();
        actual = null;
        over();
    }

    @Override
    public void fenceNoted() {}

    @Override
    public void fenceSignalled() {}

    @Override
    public void leaseEnded(ChunkLease lease) {
        signalLater();
    }
}
