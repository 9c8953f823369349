// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.fence;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A vendor's event as a fence: queried until it is signalled, and polled while it is waited for. A vendor gives how to
 * ask, who looks, how the event is given back, and what a failure says.
 *
 * <p><b>Ownership:</b> an event of its own goes when this is closed and it is passed.
 */
public abstract class EventFence implements DeviceFence, Watched {

    /** What {@link #ask} answers while the device has not passed the event; 0 is success, anything else a failure. */
    public static final int PENDING = Integer.MAX_VALUE;

    private final long event;
    private final boolean owned;
    private final Sinks.Empty<Void> passed = Sinks.empty();

    // Guarded by this.
    private boolean watched;
    private boolean closed;
    private int state = PENDING; // until it is known to be passed

    /**
     * Wraps an event.
     *
     * @param owned whether {@link #free} is called; the application's event is its own to destroy, once it is passed
     */
    protected EventFence(long event, boolean owned) {
        this.event = event;
        this.owned = owned;
    }

    /** Asks the vendor, for {@link #PENDING}, 0 or the code of a failure. Under this object's lock; never blocks. */
    protected abstract int ask();

    /** Asks as {@link #ask} does, on the thread that {@link #watch} has found. */
    protected int askOnWatch() {
        return ask();
    }

    /** Has {@link #look} called until it answers true. Once at a time, and not under the lock. */
    protected abstract void watch();

    /** Gives the event back. Once, and not under the lock. */
    protected abstract void free();

    /** Returns what {@link #outcome} fails with where the event has ended with a failure. */
    protected abstract RuntimeException failure(int code);

    /** Runs a call, under the lock, if the event is there still; returns whether it is, and the call answers true. */
    protected final synchronized boolean whileHeld(BooleanSupplier call) {
        return (!owned || !closed || watched) && call.getAsBoolean();
    }

    /** Returns what the vendor says of the event; not asked again once it is passed, when the application may destroy it. */
    public final synchronized int state() {
        if (state == PENDING) { // so it is there: of its own it goes no sooner
            state = ask();
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
                watch();
            }
            return passed.asMono();
        });
    }

    @Override
    public final boolean look() {
        boolean frees;
        synchronized (this) {
            if (state == PENDING) {
                state = askOnWatch();
            }
            if (state == PENDING) {
                return false;
            }
            watched = false;
            frees = closed && owned;
        }
        if (frees) {
            free();
        }
        passed.tryEmitEmpty();
        return true;
    }

    /** {@inheritDoc} An imported event has no transfer; a device that is lost fails here. */
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

    /** {@inheritDoc} Where it is not passed yet it is watched: a transfer that has it may come to wait later. */
    @Override
    public final void close() {
        boolean pending;
        synchronized (this) {
            if (closed || !owned || watched) {
                closed = true;
                return; // the application's, or look() gives it back
            }
            pending = state() == PENDING;
            watched = pending;
            closed = true;
        }
        if (pending) {
            watch();
        } else {
            free();
        }
    }
}
