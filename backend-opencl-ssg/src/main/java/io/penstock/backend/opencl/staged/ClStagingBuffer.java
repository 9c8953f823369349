// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.staged;

import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.kit.BufferPool;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Host memory known to the driver, which may pin it, with its own command queue and native cells: at most one copy per
 * staging buffer is in flight, so that a copy needs no lookup and no allocation.
 *
 * <p>It stays mapped permanently. Copies use its address, never its cl_mem, which exists so that the driver pins the
 * memory (recommended by AMD's and NVIDIA's guides for copies at full speed).
 */
public final class ClStagingBuffer implements DeviceMemory {

    private static final int EVENT = 0;
    private static final int STATUS = 8;
    private static final int ERROR = 12;
    private static final int CELL_BYTES = 16;

    private static final long PAGE_BYTES = 4096;

    private final Pool pool;
    private final Kind kind;
    private final @Nullable Slab own; // null where the memory is the driver's
    private final long buffer;
    private final CopyQueues queues;
    private final Pause pause = new Pause().naps(20_000, 20_000); // of the thread that waits for a copy
    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long cellAddress = NativeMemory.address(cells);
    private long mapped; // the driver's address; written once

    /**
     * Identifies interchangeable staging buffers.
     *
     * @param bytes the size of each
     * @param ofDriver true if the driver allocates the memory
     */
    record Kind(long bytes, boolean ofDriver) {}

    /** The staging buffers of one context. */
    static final class Pool extends BufferPool<Kind, ClStagingBuffer> {

        private final ClContext context;

        private Pool(ClContext context) {
            super(context, staging -> staging.kind);
            this.context = context;
        }

        /** Returns the staging buffers of a context. */
        static Pool of(ClContext context) {
            return context.part(Pool.class, Pool::new);
        }

        @Override
        protected ClStagingBuffer allocate(Kind kind) {
            return ClStagingBuffer.allocate(this, context, kind);
        }

        @Override
        protected void release(ClStagingBuffer staging) {
            staging.release();
        }
    }

    private ClStagingBuffer(Pool pool, Kind kind, @Nullable Slab own, long buffer, CopyQueues queues) {
        this.pool = pool;
        this.kind = kind;
        this.own = own;
        this.buffer = buffer;
        this.queues = queues;
    }

    private static ClStagingBuffer allocate(Pool pool, ClContext context, Kind kind) {
        CopyQueues queues = CopyQueues.of(context);
        String request = "allocation of a staging buffer of " + kind.bytes + " bytes";
        Slab own = kind.ofDriver ? null : Slabs.shared().allocate(kind.bytes);
        long buffer = 0;
        try {
            buffer = own == null
                    // A driver maps its memory at any address: the size must leave room for page alignment.
                    ? create(context, request, OpenCl.CL_MEM_ALLOC_HOST_PTR, kind.bytes + PAGE_BYTES, 0)
                    : create(context, request, OpenCl.CL_MEM_USE_HOST_PTR, kind.bytes, own.hostAddress());
            ClStagingBuffer staging = new ClStagingBuffer(pool, kind, own, buffer, queues);
            staging.map(request);
            return staging;
        } catch (RuntimeException e) {
            if (buffer != 0) {
                OpenCl.clReleaseMemObject(buffer);
            }
            if (own != null) {
                own.free();
            }
            throw e;
        }
    }

    private static long create(ClContext context, String request, long flags, long bytes, long host) {
        int[] error = new int[1];
        long buffer = OpenCl.clCreateBuffer(context.handle(), OpenCl.CL_MEM_READ_WRITE | flags, bytes, host, error);
        OpenClFailure.check(request, "clCreateBuffer", error[0]);
        return buffer;
    }

    private void map(String request) {
        long flags = OpenCl.CL_MAP_READ | OpenCl.CL_MAP_WRITE;
        long bytes = kind.bytes + (kind.ofDriver ? PAGE_BYTES : 0);
        mapped = OpenCl.clEnqueueMapBuffer(queues.maps(), buffer, 1, flags, 0, bytes, 0, 0, 0, cellAddress + ERROR);
        OpenClFailure.check(request, "clEnqueueMapBuffer", cells.getInt(ERROR));
    }

    /** Releases it; no copy may be in flight. */
    private void release() {
        OpenCl.clEnqueueUnmapMemObject(queues.maps(), buffer, mapped, 0, 0, 0);
        OpenCl.clFinish(queues.maps());
        OpenCl.clReleaseMemObject(buffer);
        if (own != null) {
            own.free();
        }
    }

    Pause pause() {
        return pause;
    }

    /** Returns the queues on which it is copied. */
    CopyQueues queues() {
        return queues;
    }

    /** Returns the address of the cell for the event of a copy. */
    long eventCell() {
        return cellAddress + EVENT;
    }

    /** Returns the event of the copy in flight. */
    long event() {
        return cells.getLong(EVENT);
    }

    /** Queries the state of the copy; returns 0, with the state in {@link #status}, or an error code. */
    int query() {
        return OpenCl.clGetEventInfo(
                event(), OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, cellAddress + STATUS, 0);
    }

    /** Returns the state that {@link #query} read. */
    int status() {
        return cells.getInt(STATUS);
    }

    @Override
    public long bytes() {
        return kind.bytes;
    }

    @Override
    public long nativeHandle() {
        return (mapped + PAGE_BYTES - 1) & -PAGE_BYTES;
    }

    @Override
    public long hostAddress() {
        return (mapped + PAGE_BYTES - 1) & -PAGE_BYTES;
    }

    @Override
    public void free() {
        pool.give(this);
    }
}
