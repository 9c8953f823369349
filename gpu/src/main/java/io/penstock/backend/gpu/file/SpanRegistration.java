// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.PenstockException;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.backend.gpu.device.GpuSpan;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The registration with the file API of one allocation of GPU memory: whole, once, until it is freed.
 *
 * <p><b>Threading:</b> thread-safe. {@link #register} and {@link #end} block; the former requires the memory's context
 * to be current.
 */
public final class SpanRegistration implements GpuSpan.Attachment {

    private final GpuSpan span;
    private final AtomicInteger uses = new AtomicInteger();
    private volatile boolean active;
    private volatile String refusal = ""; // why not, if the refusal is permanent
    private @Nullable RegisteredMemory memory; // while it is active; guarded by this, as ended is
    private boolean ended;

    private SpanRegistration(GpuSpan span) {
        this.span = span;
    }

    /** Returns the registration of an allocation, active or not; only the first call allocates. */
    public static SpanRegistration of(GpuSpan span) {
        return span.attachment(SpanRegistration.class, SpanRegistration::new);
    }

    /** Returns true if the file API must be given the registered pointer and offsets from it. */
    public boolean isActive() {
        return active;
    }

    /** Returns why it cannot be registered; empty if it is registered, or no attempt was made. */
    public String refusal() {
        return refusal;
    }

    /** Counts a transfer and returns the count so far; stops counting at {@code enough}. */
    int used(int enough) {
        int count = uses.get();
        return count >= enough ? count : uses.incrementAndGet();
    }

    /** Registers it; does nothing if it is registered, was refused, or is freed. */
    synchronized void register() throws FileRefusal {
        if (active || ended || !refusal.isEmpty()) {
            return;
        }
        try {
            memory = RegisteredMemory.of(span.context().files(), span.address(), span.bytes());
            active = true;
        } catch (FileRefusal e) {
            refusal = String.valueOf(e.getMessage());
            throw e;
        }
    }

    /** Prevents the registration, for a reason other than the file API's. */
    void refuse(String reason) {
        refusal = reason;
    }

    /** Ends the registration, before the memory is freed; nothing may use it any more. */
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
