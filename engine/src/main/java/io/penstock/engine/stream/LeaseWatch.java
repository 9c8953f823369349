// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.Chunk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Warns once where a stream or a write has waited for a lease for {@link #PATIENCE}: one that was forgotten would be
 * waited for without a word. A timer runs only after it has waited, and the process warns once in {@link #QUIET}, since
 * leases may also be held by clients that read slowly.
 *
 * <p><b>Threading:</b> {@link #waits} and {@link #close} in turns.
 */
final class LeaseWatch {

    static final Duration PATIENCE = Duration.ofSeconds(10);
    static final Duration QUIET = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(Chunk.class);
    private static final AtomicLong QUIET_UNTIL = new AtomicLong(Long.MIN_VALUE); // of the scheduler's clock

    private final String what;
    private final Optional<Path> path;
    private final AtomicBoolean armed = new AtomicBoolean();
    private final Disposable.Swap timer = Disposables.swap();
    private volatile @Nullable ChunkLease waiting; // written before armed is read; the timer has it the other way round
    private volatile boolean warned;

    /**
     * Creates a watch.
     *
     * @param what waits, in words
     * @param path of its file; empty if it was opened before
     */
    LeaseWatch(String what, Optional<Path> path) {
        this.what = what;
        this.path = path;
    }

    /** Called with the lease that is waited for; null if there is none. */
    void waits(@Nullable ChunkLease lease) {
        if (waiting != lease) {
            waiting = lease;
            arm();
        }
    }

    /** Ends the watch. */
    void close() {
        waiting = null;
        warned = true;
        timer.dispose();
    }

    private void arm() {
        ChunkLease lease = waiting;
        if (lease != null && !warned && armed.compareAndSet(false, true)) {
            try {
                Scheduler clock = Schedulers.parallel();
                timer.update(clock.schedule(() -> look(clock, lease), PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
            } catch (RejectedExecutionException e) {
                warned = true; // Reactor is being shut down
            }
        }
    }

    private void look(Scheduler clock, ChunkLease lease) {
        if (waiting == lease && !lease.isOver() && !warned) {
            warned = true;
            warn(clock.now(TimeUnit.MILLISECONDS), lease);
        } else {
            armed.set(false);
            arm();
        }
    }

    private void warn(long now, ChunkLease lease) {
        long until = QUIET_UNTIL.get();
        if (now >= until && QUIET_UNTIL.compareAndSet(until, now + QUIET.toMillis())) {
            LOG.warn(
                    "{} {} has waited for {} s for the lease of {}: close what retain() returned, or signal the fence of releaseAfter();"
                            + " the next such warning comes after {} s at the earliest",
                    what,
                    path.map(Path::toString).orElse("an open file"),
                    PATIENCE.toSeconds(),
                    lease,
                    QUIET.toSeconds());
        }
    }

    /** Lets the next warning come at once; for tests. */
    static void forget() {
        QUIET_UNTIL.set(Long.MIN_VALUE);
    }
}
