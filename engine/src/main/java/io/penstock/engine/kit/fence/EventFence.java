// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.fence;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A vendor's event as a fence: queried until it is signalled, and polled while it is waited for. A subclass defines how
 * to query it, which thread polls, how to free the event, and how to report a failure.
 *
 * <p><b>Ownership:</b> an owned event is freed when this is closed and the event is signalled.
 */
public abstract class EventFence implements DeviceFence, Watched {

    /** The result of {@link #query} while the event is not signalled; 0 is success, anything else a failure. */
    public static final int PENDING = Integer.MAX_VALUE;

    private final long event;
    private final boolean owned;
    private final Sinks.Empty<Void> signal = Sinks.empty();

    // Guarded by this.
    private boolean watched;
    private boolean closed;
    private boolean freed;
    private int state = PENDING; // until it is known to be signalled

    /**
     * Wraps an event.
     *
     * @param owned whether {@link #free} is called; the application destroys its own event, once it is signalled
     */
    protected EventFence(long event, boolean owned) {
        this.event = event;
        this.owned = owned;
    }

    /**
     * Queries the event: returns {@link #PENDING}, 0 or the code of a failure. Under this object's lock; never blocks.
     */
    protected abstract int query();

    /** As {@link #query}, on the thread that {@link #watch} has arranged. */
    protected int queryOnWatch() {
        return query();
    }

    /** Arranges for {@link #poll} to be called until it returns true. Once at a time, and not under the lock. */
    protected abstract void watch();

    /** Frees the event. Called once, and not under the lock. */
    protected abstract void free();

    /** Returns the exception that {@link #outcome} signals if the event has failed. */
    protected abstract RuntimeException failure(int code);

    /** Runs a call, under the lock, if the event still exists; returns whether it does and the call returned true. */
    protected final synchronized boolean whileHeld(BooleanSupplier call) {
        return !freed && call.getAsBoolean();
    }

    /**
     * Returns the state of the event. Not queried again once it is signalled, since the application may then destroy
     * it.
     */
    public final synchronized int state() {
        if (state == PENDING) { // so it exists: an owned event is not freed before
            state = query();
        }
        return state;
    }

    @Override
    public final boolean isSignalled() {
        return state() != PENDING;
    }

    @Override
    public final Mono<Void> signalled() {
        return Mono.defer(() -> {
            boolean starts;
            synchronized (this) {
                if (state() != PENDING) {
                    return Mono.empty();
                }
                starts = !watched;
                watched = true;
            }
            if (starts) {
                startWatch();
            }
            return signal.asMono();
        });
    }

    private void startWatch() {
        try {
            watch();
        } catch (RuntimeException | Error e) { // as where no thread starts: the next subscriber, or close, tries again
            synchronized (this) {
                watched = false;
            }
            throw e;
        }
    }

    @Override
    public final boolean poll() {
        boolean frees;
        synchronized (this) {
            if (state == PENDING) {
                state = queryOnWatch();
            }
            if (state == PENDING) {
                return false;
            }
            watched = false;
            frees = closed && owned;
            freed = frees;
        }
        if (frees) {
            free();
        }
        signal.tryEmitEmpty();
        return true;
    }

    /** {@inheritDoc} An imported event has no transfer; the loss of the device is signalled here. */
    @Override
    public final Mono<Completion> outcome() {
        return signalled().then(Mono.defer(() -> {
            int code = state();
            return code == 0 ? Mono.empty() : Mono.error(failure(code));
        }));
    }

    @Override
    public final long nativeHandle() {
        return event;
    }

    /**
     * {@inheritDoc} An event that is not yet signalled is watched: a transfer that refers to it may wait for it later.
     * If the watch cannot start, this throws, and another call tries again.
     */
    @Override
    public final void close() {
        boolean pending;
        synchronized (this) {
            closed = true;
            if (!owned || watched || freed) {
                return; // the application's, or poll() frees it
            }
            pending = state() == PENDING;
            watched = pending;
            freed = !pending;
        }
        if (pending) {
            startWatch();
        } else {
            free();
        }
    }
}
