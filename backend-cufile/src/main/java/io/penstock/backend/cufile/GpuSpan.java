// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

/** One allocation of a GPU's memory. Compared as an object: an address may come again. */
final class GpuSpan {

    private final CudaContext context;
    private final long address;
    private final long bytes;
    private final boolean ours;
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

    boolean isOurs() {
        return ours;
    }
}
