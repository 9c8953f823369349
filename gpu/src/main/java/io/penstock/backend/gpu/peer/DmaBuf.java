// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.machine.PeerLimits;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A range of GPU memory as a dma-buf.
 *
 * @param offset where in it the range starts
 */
record DmaBuf(int descriptor, long offset, long bytes, AtomicBoolean closed) implements AutoCloseable {

    /**
     * The page size of a GPU's BAR, as NVIDIA specifies it for peer drivers (GPUDirect RDMA, design considerations).
     */
    private static final long BAR_PAGE_BYTES = 64 << 10;

    /**
     * Exports a range of a context's memory, in whole pages of the host, as the driver requires.
     *
     * @throws UnsupportedOperationException if the GPU, or this memory, has no dma-buf, or no device reaches so much of
     *     it
     * @throws io.penstock.PenstockException with the driver's answer
     */
    static DmaBuf export(GpuContext context, long address, long bytes, PeerLimits limits) {
        DriverApi driver = context.driver();
        String why = driver.whyNoDmaBuf(context.gpu().device());
        if (!why.isEmpty()) {
            throw refused(context.gpu() + " has no dma-bufs (" + why + ")", limits);
        }
        long page = LibC.pageSize();
        long start = address & -page;
        long length = (address + bytes - start + page - 1) & -page;
        String what = "no dma-buf of " + length + " bytes at 0x" + Long.toHexString(start) + ": ";
        limits.obstacle(length).ifPresent(reason -> {
            throw new UnsupportedOperationException(what + reason);
        });
        int[] descriptor = new int[1];
        int result = context.attempt(
                () -> driver.memGetHandleForAddressRange(descriptor, start, length, DriverApi.RANGE_HANDLE_DMA_BUF, 0));
        if (result == DriverApi.NOT_SUPPORTED || result == DriverApi.NOT_FOUND || result == DriverApi.INVALID_VALUE) {
            throw refused(what + driver.error("memGetHandleForAddressRange", result), limits);
        }
        if (result != DriverApi.SUCCESS) {
            throw driver.exception(
                    "export of " + bytes + " bytes" + PeerLimits.message(limits.of(), " (", ")"),
                    "memGetHandleForAddressRange",
                    result);
        }
        return new DmaBuf(descriptor[0], address - start, length, new AtomicBoolean());
    }

    private static UnsupportedOperationException refused(String message, PeerLimits limits) {
        return new UnsupportedOperationException(message + PeerLimits.message(limits.of(), ". ", ""));
    }

    /**
     * Returns the contiguity of the memory for a peer, which is assumed: no call returns it for a dma-buf. It is the
     * page of GPUDirect RDMA, 64 KiB, or the driver's allocation granularity for such memory where that is smaller (2
     * MiB on an H200).
     */
    static long pageBytes(GpuContext context) {
        long[] step = new long[1];
        context.attempt(() -> {
            step[0] = context.driver().peerGranularity(context.gpu().device());
            return DriverApi.SUCCESS;
        });
        return step[0] > 0 ? Math.min(step[0], BAR_PAGE_BYTES) : BAR_PAGE_BYTES;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            LibC.close(descriptor);
        }
    }
}
