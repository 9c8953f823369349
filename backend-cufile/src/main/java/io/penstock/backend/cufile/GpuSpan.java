// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.PenstockException;

/** One allocation of a GPU's memory. Compared as an object: an address may come again. */
final class GpuSpan {

    private final CudaContext context;
    private final long address;
    private final long bytes;
    private final boolean ours;
    private final SpanRegistration registration;
    int parts; // handed out; of GpuSlabs, under its lock

    /**
     * Describes one.
     *
     * @param ours whether it is a span of {@link GpuSlabs}, and not the application's
     */
    GpuSpan(CudaContext context, long address, long bytes, boolean ours) {
        this.context = context;
        this.address = address;
        this.bytes = bytes;
        this.ours = ours;
        this.registration = new SpanRegistration(address, bytes);
    }

    CudaContext context() {
        return context;
    }

    long address() {
        return address;
    }

    long bytes() {
        return bytes;
    }

    /** Returns whether cuFile has it; whoever frees the span ends that first. */
    SpanRegistration registration() {
        return registration;
    }

    boolean isOurs() {
        return ours;
    }

    /** Ends the registration of memory that its owner is about to free; nothing uses it any more. */
    void endRegistration() {
        if (registration.isActive()) {
            try {
                context.run("end of a registration", () -> {
                    registration.end();
                    return registration;
                });
            } catch (PenstockException lost) {
                // the context is gone, and its memory with it
            }
        } else {
            registration.end();
        }
    }
}
