// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A native resource with a count of its users, freed once it is retired and the count is 0 (rules 201, 202). Files
 * extend it instead of referring to one: with ten thousand files, each further object is one more cache miss per read.
 *
 * <p><b>Threading:</b> lock-free. {@link #free} runs on the last thread to retire or unpin.
 */
public abstract class Pinned {

    // state = 2 * pins + closed; the closed bit lets retire() and the last unpin() agree in one atomic step.
    private static final int CLOSED = 1;
    private static final int PIN = 2;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Pinned.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int state;

    /** Frees the resource; called once, by the last user. */
    public abstract void free();

    /** Pins the resource, unless it is retired; each success must be matched by one {@link #unpin}. */
    public final boolean tryPin() {
        int seen = state;
        // A loop, not an addition that is undone: after retire() the count must only fall, or it could reach CLOSED
        // twice and free twice.
        while ((seen & CLOSED) == 0) {
            if (seen == Integer.MAX_VALUE - 1) {
                throw new IllegalStateException("too many pins");
            }
            int found = (int) STATE.compareAndExchange(this, seen, seen + PIN);
            if (found == seen) {
                return true;
            }
            seen = found;
        }
        return false;
    }

    /** Adds a pin to one that the caller holds; also if the resource is retired. */
    public final void pinAgain() {
        if (((int) STATE.getAndAdd(this, PIN)) >> 1 == 0) {
            throw new IllegalStateException("not pinned");
        }
    }

    /** Pins the resource also if it is retired, as long as it has another pin; returns false if it is freed. */
    public final boolean tryPinAgain() {
        int seen = state;
        while (seen != CLOSED) { // which it reaches once: from there it is never pinned again
            int found = (int) STATE.compareAndExchange(this, seen, seen + PIN);
            if (found == seen) {
                return true;
            }
            seen = found;
        }
        return false;
    }

    /** Removes one pin; frees if it was the last one and the resource is retired. */
    public final void unpin() {
        // Full fence, not release alone: the thread that frees must see what every other pin holder wrote.
        int left = (int) STATE.getAndAdd(this, -PIN) - PIN;
        if (left == CLOSED) {
            free();
        } else if (left < 0) {
            throw new IllegalStateException("unpinned more often than pinned");
        }
    }

    /** Refuses further pins; frees at once if there are none. Returns true on the first call. */
    public final boolean retire() {
        int before = (int) STATE.getAndBitwiseOr(this, CLOSED);
        if (before == 0) {
            free();
        }
        return (before & CLOSED) == 0;
    }

    public final boolean isRetired() {
        return (state & CLOSED) != 0;
    }

    /** Returns the current number of pins, for reports. */
    public final int count() {
        return state >> 1;
    }
}
