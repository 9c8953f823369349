// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.register;

import io.penstock.PenstockException;
import io.penstock.backend.cufile.device.GpuSpan;
import io.penstock.backend.cufile.driver.CuFileRefusal;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Whether one allocation of a GPU's memory is registered with cuFile: whole, once, until it is freed.
 *
 * <p><b>Threading:</b> thread-safe. {@link #register} and {@link #end} block; the memory's context is current for the former.
 */
public final class SpanRegistration implements GpuSpan.Attachment {

    private final GpuSpan span;
    private final AtomicInteger uses = new AtomicInteger();
    private volatile boolean active;
    private volatile String refusal = ""; // why not, once that is known for good
    private @Nullable RegisteredMemory memory; // while it is active; guarded by this, as ended is
    private boolean ended;

    private SpanRegistration(GpuSpan span) {
        this.span = span;
    }

    /** Returns the registration of an allocation, active or not; allocates nothing but for the first call. */
    public static SpanRegistration of(GpuSpan span) {
        return span.attachment(SpanRegistration.class, SpanRegistration::new);
    }

    /** Returns whether the pointer and offsets from it are what cuFile is to be given. */
    public boolean isActive() {
        return active;
    }

    /** Returns why it cannot be registered; empty where it is, or where nobody has tried. */
    public String refusal() {
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
            memory = RegisteredMemory.of(span.address(), span.bytes());
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
    @Override
    public synchronized void end() {
        ended = true;
        active = false;
        RegisteredMemory known = memory;
        memory = null;
        if (known != null) {
            try {
                span.context().run("end of a registration", () -> {
                    known.leave();
                    return known;
                });
            } catch (PenstockException lost) {
                // the context is gone, and its memory with it
            }
        }
    }
}
