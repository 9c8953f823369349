// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.HostLease;
import io.penstock.HostView;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A hold on a chunk beyond the function that it was lent to; see {@link ChunkLease#retain}. */
final class CountedLease implements HostLease, Lease {

    private static final Logger LOG = LoggerFactory.getLogger(HostLease.class);

    private final ChunkLease chunk;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Cleaner.Cleanable leak;

    /**
     * Creates a lease; the caller has counted it on {@code chunk}.
     *
     * @param placed whether the report of a lease that is dropped has the place that retained it
     */
    CountedLease(ChunkLease chunk, boolean placed) {
        this.chunk = chunk;
        this.leak = Leases.watch(this, ifDropped(chunk, closed, placed ? new Throwable("retained here") : null));
        Leases.began();
    }

    /**
     * Static, with only these parameters: what it captures must not keep the lease reachable. Operators of Reactor drop
     * what they have queued when a cancel overtakes their thread, so that the memory is given back here.
     */
    private static Runnable ifDropped(ChunkLease chunk, AtomicBoolean closed, @Nullable Throwable place) {
        return () -> {
            if (closed.compareAndSet(false, true)) {
                end(chunk);
                LOG.warn(
                        "LEAK: a lease of {} was dropped without being closed; its memory has been given back{}",
                        chunk,
                        place == null ? "; penstock.leak-detection=true shows where it was retained" : "",
                        place);
            }
        };
    }

    private static void end(ChunkLease chunk) {
        Leases.ended();
        chunk.release();
    }

    @Override
    public HostView view() {
        checkOpen();
        return chunk.view(this);
    }

    @Override
    public void checkOpen() {
        if (closed.get()) {
            throw Leases.over(this);
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            leak.clean(); // which finds it closed
            end(chunk);
        }
    }

    @Override
    public String toString() {
        return "retained " + chunk;
    }
}
