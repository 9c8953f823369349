// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts who uses a native thing, and frees it once it is closed and nobody does (rules 201, 202).
 *
 * <p><b>Threading:</b> lock-free. {@code free} runs on the thread that closed or unpinned last.
 */
final class Pins {

    // state = 2 * pins + closed; the odd/even bit lets close() and the last unpin() agree in one atomic step.
    private static final int CLOSED = 1;
    private static final int PIN = 2;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Pins.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Runnable free;
    private volatile int state;

    Pins(Runnable free) {
        this.free = free;
    }

    /** Pins it, unless it is closed; each success is matched by one {@link #unpin}. */
    boolean tryPin() {
        int seen = state;
        // A loop and not an addition that is taken back: after close() the count must only fall, or it could reach
        // CLOSED twice and free twice.
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

    /** Takes one pin back; frees if it was the last one and the thing is closed. */
    void unpin() {
        // Full fence, not release alone: whoever frees must see what every other pin holder wrote.
        int left = (int) STATE.getAndAdd(this, -PIN) - PIN;
        if (left == CLOSED) {
            free.run();
        } else if (left < 0) {
            throw new IllegalStateException("unpinned more often than pinned");
        }
    }

    /** Closes it; frees at once if nobody uses it. Returns whether this was the first call. */
    boolean close() {
        int before = (int) STATE.getAndBitwiseOr(this, CLOSED);
        if (before == 0) {
            free.run();
        }
        return (before & CLOSED) == 0;
    }

    boolean isClosed() {
        return (state & CLOSED) != 0;
    }

    /** Returns how many pins there are as of now, for reports. */
    int count() {
        return state >> 1;
    }
}
