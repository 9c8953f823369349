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
    private final Cleaner.@Nullable Cleanable leak;

    /** Creates a lease; the caller has counted it on {@code chunk}. */
    CountedLease(ChunkLease chunk, boolean watched) {
        this.chunk = chunk;
        this.leak = watched ? Leases.watch(this, report(chunk.toString(), closed)) : null;
        Leases.began();
    }

    /** Static, with only these parameters: what it captures must not keep the lease reachable. */
    private static Runnable report(String what, AtomicBoolean closed) {
        Throwable place = new Throwable("retained here");
        return () -> {
            if (!closed.get()) {
                LOG.warn("LEAK: a lease of {} was dropped without being closed; its memory stays in use", what, place);
            }
        };
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
            if (leak != null) {
                leak.clean();
            }
            Leases.ended();
            chunk.release();
        }
    }

    @Override
    public String toString() {
        return "retained " + chunk;
    }
}
