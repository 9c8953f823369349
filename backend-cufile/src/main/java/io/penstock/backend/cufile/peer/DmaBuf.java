// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.peer;

import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.machine.PeerLimits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;

/** A range of GPU memory as a dma-buf. */
final class DmaBuf implements AutoCloseable {

    /**
     * The page size of a GPU's BAR, as NVIDIA specifies it for peer drivers (GPUDirect RDMA, design considerations).
     */
    private static final long BAR_PAGE_BYTES = 64 << 10;

    private final int descriptor;
    private final long offset;
    private final long bytes;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DmaBuf(int descriptor, long offset, long bytes) {
        this.descriptor = descriptor;
        this.offset = offset;
        this.bytes = bytes;
    }

    /**
     * Exports a range of a context's memory, in whole pages of the host, as the driver requires.
     *
     * @throws UnsupportedOperationException if the GPU, or this memory, has no dma-buf, or no device reaches so much of
     *     it
     * @throws io.penstock.PenstockException with the driver's answer
     */
    static DmaBuf export(CudaContext context, long address, long bytes, PeerLimits limits) {
        if (!isSupported(context)) {
            throw refused(context.gpu() + " has no dma-bufs (DMA_BUF_SUPPORTED is 0)", limits);
        }
        long page = LibC.pageSize();
        long start = address & -page;
        long length = (address + bytes - start + page - 1) & -page;
        String what = "no dma-buf of " + length + " bytes at 0x" + Long.toHexString(start) + ": ";
        limits.obstacle(length).ifPresent(reason -> {
            throw new UnsupportedOperationException(what + reason);
        });
        int[] descriptor = new int[1];
        int result = context.attempt(() -> Cuda.cuMemGetHandleForAddressRange(
                descriptor, start, length, Cuda.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        if (result == CudaError.NOT_SUPPORTED || result == CudaError.NOT_FOUND || result == CudaError.INVALID_VALUE) {
            throw refused(what + CudaFailure.error("cuMemGetHandleForAddressRange", result), limits);
        }
        if (result != CudaError.SUCCESS) {
            throw CudaFailure.exception(
                    "export of " + bytes + " bytes" + PeerLimits.message(limits.of(), " (", ")"),
                    "cuMemGetHandleForAddressRange",
                    result);
        }
        return new DmaBuf(descriptor[0], address - start, length);
    }

    private static UnsupportedOperationException refused(String message, PeerLimits limits) {
        return new UnsupportedOperationException(message + PeerLimits.message(limits.of(), ". ", ""));
    }

    /**
     * Returns the contiguity of the memory for a peer, which is assumed: no call returns it for a dma-buf. It is the
     * page of GPUDirect RDMA, 64 KiB, or the driver's allocation granularity for such memory where that is smaller (2
     * MiB on an H200).
     */
    static long pageBytes(CudaContext context) {
        ByteBuffer properties =
                ByteBuffer.allocate(Cuda.MEM_ALLOCATION_PROP_BYTES).order(ByteOrder.nativeOrder());
        properties.putInt(Cuda.MEM_ALLOCATION_PROP_TYPE_OFFSET, Cuda.CU_MEM_ALLOCATION_TYPE_PINNED);
        properties.putInt(Cuda.MEM_ALLOCATION_PROP_LOCATION_TYPE_OFFSET, Cuda.CU_MEM_LOCATION_TYPE_DEVICE);
        properties.putInt(
                Cuda.MEM_ALLOCATION_PROP_LOCATION_ID_OFFSET, context.gpu().device());
        properties.put(Cuda.MEM_ALLOCATION_PROP_RDMA_CAPABLE_OFFSET, (byte) 1);
        long[] steps = new long[1];
        int result = context.attempt(() ->
                Cuda.cuMemGetAllocationGranularity(steps, properties.array(), Cuda.CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        return result == CudaError.SUCCESS && steps[0] > 0 ? Math.min(steps[0], BAR_PAGE_BYTES) : BAR_PAGE_BYTES;
    }

    private static boolean isSupported(CudaContext context) {
        int[] value = new int[1];
        int result = Cuda.cuDeviceGetAttribute(
                value, Cuda.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, context.gpu().device());
        return result == CudaError.SUCCESS && value[0] == 1;
    }

    int descriptor() {
        return descriptor;
    }

    long offset() {
        return offset;
    }

    long bytes() {
        return bytes;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            LibC.close(descriptor);
        }
    }
}
