// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.PeerExport;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.ffi.LibC;
import java.util.concurrent.atomic.AtomicBoolean;

/** A range of a GPU's memory as a dma-buf. */
final class DmaBuf implements PeerExport {

    /** The pages of a GPU's BAR, which other devices' tables are made of (GPUDirect RDMA, design considerations). */
    private static final long GPU_PAGE_BYTES = 64 << 10;

    private final int descriptor;
    private final long offset;
    private final long bytes;
    private final long alignment;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DmaBuf(int descriptor, long offset, long bytes, long alignment) {
        this.descriptor = descriptor;
        this.offset = offset;
        this.bytes = bytes;
        this.alignment = alignment;
    }

    /**
     * Exports a range of a span, in whole pages of the host, as the driver wants it.
     *
     * @throws UnsupportedOperationException if the GPU, or this memory, has no dma-buf
     * @throws io.penstock.PenstockException with the driver's answer
     */
    static DmaBuf export(GpuSpan span, long address, long bytes) {
        CudaContext context = span.context();
        if (!isSupported(context)) {
            throw new UnsupportedOperationException(context.gpu() + " has no dma-bufs (DMA_BUF_SUPPORTED is 0)");
        }
        long page = LibC.pageSize();
        long start = address & -page;
        long length = (address + bytes - start + page - 1) & -page;
        int[] descriptor = new int[1];
        int result = context.attempt(() -> Cuda.cuMemGetHandleForAddressRange(
                descriptor, start, length, Cuda.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        if (result == CudaError.NOT_SUPPORTED || result == CudaError.NOT_FOUND || result == CudaError.INVALID_VALUE) {
            throw new UnsupportedOperationException("no dma-buf of " + length + " bytes at 0x" + Long.toHexString(start)
                    + ": " + CudaFailure.error("cuMemGetHandleForAddressRange", result));
        }
        CudaFailure.check("export of " + bytes + " bytes", "cuMemGetHandleForAddressRange", result);
        return new DmaBuf(descriptor[0], address - start, length, page);
    }

    private static boolean isSupported(CudaContext context) {
        int[] value = new int[1];
        int result = Cuda.cuDeviceGetAttribute(
                value, Cuda.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, context.gpu().device());
        return result == CudaError.SUCCESS && value[0] == 1;
    }

    @Override
    public int descriptor() {
        return descriptor;
    }

    @Override
    public long offset() {
        return offset;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public long pageBytes() {
        return GPU_PAGE_BYTES;
    }

    @Override
    public long alignment() {
        return alignment;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            LibC.close(descriptor);
        }
    }
}
