// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Whether one allocation of a GPU's memory is registered with cuFile: whole, once, until it is freed.
 *
 * <p><b>Threading:</b> thread-safe. {@link #register} and {@link #end} block, and have the memory's context current.
 */
final class SpanRegistration {

    private final long base;
    private final long bytes;
    private final AtomicInteger uses = new AtomicInteger();
    private volatile boolean active;
    private volatile String refusal = ""; // why not, once that is known for good
    private @Nullable RegisteredMemory memory; // while it is active; guarded by this, as ended is
    private boolean ended;

    SpanRegistration(long base, long bytes) {
        this.base = base;
        this.bytes = bytes;
    }

    /** Returns whether the pointer and offsets from it are what cuFile is to be given. */
    boolean isActive() {
        return active;
    }

    /** Returns why it cannot be registered; empty where it is, or where nobody has tried. */
    String refusal() {
        return refusal;
    }

    /** Counts a transfer, and returns how many there have been; stops counting when that tells nothing new. */
    int used(int enough) {
        int count = uses.get();
        return count >= enough ? count : uses.incrementAndGet();
    }

    /** Registers it; nothing if it is, was refused, or is gone. */
    synchronized void register() throws CuFileRefusal {
        if (active || ended || !refusal.isEmpty()) {
            return;
        }
        try {
            memory = RegisteredMemory.of(base, bytes);
            active = true;
        } catch (CuFileRefusal e) {
            refusal = String.valueOf(e.getMessage());
            throw e;
        }
    }

    /** Never registers it, for a reason of ours. */
    void refuse(String reason) {
        refusal = reason;
    }

    /** Ends the registration, since the memory is about to be freed; nothing uses it any more. */
    synchronized void end() {
        ended = true;
        active = false;
        if (memory != null) {
            memory.leave();
            memory = null;
        }
    }
}
