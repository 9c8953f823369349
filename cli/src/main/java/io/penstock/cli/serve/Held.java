// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Owns at most one thing that must be closed, for as long as a request lasts, so that no operator between its maker and
 * its user has to: an operator that is cancelled drops what it carries.
 *
 * <p><b>Ownership:</b> {@link #hold} takes the thing over, {@link #release} gives it back, {@link #close} closes it; one
 * compare-and-set decides between the two latter.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class Held implements AutoCloseable {

    /** This itself, once closed. */
    private final AtomicReference<@Nullable AutoCloseable> held = new AtomicReference<>();

    /** Takes over {@code thing}; returns false, having closed it, if this is closed. */
    boolean hold(AutoCloseable thing) {
        if (held.compareAndSet(null, thing)) {
            return true;
        }
        close(thing);
        if (held.get() != this) {
            throw new IllegalStateException("something is held already");
        }
        return false;
    }

    /** Gives {@code thing} back to the caller; returns false if it was closed instead. */
    boolean release(AutoCloseable thing) {
        return held.compareAndSet(thing, null);
    }

    /** Closes what is held, and what comes later. */
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
