// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Owns at most one closeable resource for the duration of a request, so that no operator between its producer and its
 * consumer has to: a cancelled operator drops its value.
 *
 * <p><b>Ownership:</b> {@link #hold} takes ownership, {@link #release} returns it, {@link #close} closes the resource;
 * one compare-and-set decides between the latter two.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class Held implements AutoCloseable {

    /** This object itself, once closed. */
    private final AtomicReference<@Nullable AutoCloseable> held = new AtomicReference<>();

    /** Takes over {@code thing}; returns false, having closed it, if this is closed. */
    boolean hold(AutoCloseable thing) {
        if (held.compareAndSet(null, thing)) {
            return true;
        }
        close(thing);
        if (held.get() != this) {
            throw new IllegalStateException("a resource is held already");
        }
        return false;
    }

    /** Returns ownership of {@code thing} to the caller; returns false if it was closed instead. */
    boolean release(AutoCloseable thing) {
        return held.compareAndSet(thing, null);
    }

    /** Closes the held resource, and any that is passed to {@link #hold} later. */
    @Override
    public void close() {
        AutoCloseable thing = held.getAndSet(this);
        if (thing != null && thing != this) {
            close(thing);
        }
    }

    private static void close(AutoCloseable thing) {
        try {
            thing.close();
        } catch (Exception e) {
            throw new IllegalStateException("closing failed", e);
        }
    }
}
