// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.host.Slab;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Memory that the driver knows, and so may pin, with a command queue and a few native cells of its own: at most
 * one copy of a slot is under way, so that nothing has to be found or made for one.
 *
 * <p>It stays mapped for good: copies name its address, never its cl_mem, which is there so that the driver has the memory
 * pinned (AMD's and NVIDIA's guides want that for copies at full speed).
 */
final class ClSlot implements DeviceMemory {

    private static final int EVENT = 0;
    private static final int STATUS = 8;
    private static final int ERROR = 12;
    private static final int CELL_BYTES = 16;

    private static final long PAGE_BYTES = 4096;

    private final ClContext context;
    private final Kind kind;
    private final @Nullable Slab own; // null where the memory is the driver's
    private final long buffer;
    private final long queue;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long cellAddress = NativeMemory.address(cells);
    private long mapped; // what the driver says; written once

    /**
     * What slots may take each other's place.
     *
     * @param bytes of each
     * @param ofDriver whether the memory is the driver's
     */
    record Kind(long bytes, boolean ofDriver) {}

    private ClSlot(ClContext context, Kind kind, @Nullable Slab own, long buffer, long queue) {
        this.context = context;
        this.kind = kind;
        this.own = own;
        this.buffer = buffer;
        this.queue = queue;
    }

    /**
     * Makes one.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    static ClSlot allocate(ClContext context, Kind kind) {
        String request = "allocation of a slot of " + kind.bytes + " bytes";
        Slab own = kind.ofDriver ? null : Slabs.shared().allocate(kind.bytes);
        long buffer = 0;
        long queue = 0;
        try {
            buffer = own == null
                    // A driver maps its memory where it likes: there must be room for a page's start.
                    ? create(context, request, OpenCl.CL_MEM_ALLOC_HOST_PTR, kind.bytes + PAGE_BYTES, 0)
                    : create(context, request, OpenCl.CL_MEM_USE_HOST_PTR, kind.bytes, own.hostAddress());
            queue = context.createQueue(0);
            ClSlot slot = new ClSlot(context, kind, own, buffer, queue);
            slot.map(request);
            return slot;
        } catch (RuntimeException e) {
            if (queue != 0) {
                OpenCl.clReleaseCommandQueue(queue);
            }
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
        mapped = OpenCl.clEnqueueMapBuffer(queue, buffer, 1, flags, 0, bytes, 0, 0, 0, cellAddress + ERROR);
        OpenClFailure.check(request, "clEnqueueMapBuffer", cells.getInt(ERROR));
    }

    /** Gives it back; no copy is under way. */
    void release() {
        OpenCl.clEnqueueUnmapMemObject(queue, buffer, mapped, 0, 0, 0);
        OpenCl.clFinish(queue);
        OpenCl.clReleaseCommandQueue(queue);
        OpenCl.clReleaseMemObject(buffer);
        if (own != null) {
            own.free();
        }
    }

    /** Returns which others may take its place. */
    Kind kind() {
        return kind;
    }

    long queue() {
        return queue;
    }

    /** Returns the address of the cell that takes the event of a copy. */
    long eventCell() {
        return cellAddress + EVENT;
    }

    /** Returns the event of the copy that is under way. */
    long event() {
        return cells.getLong(EVENT);
    }

    /** Asks the driver for the state of the copy; answers 0 and then {@link #status} tells, or an error code. */
    int look() {
        return OpenCl.clGetEventInfo(
                event(), OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, cellAddress + STATUS, 0);
    }

    /** Returns what {@link #look} has found. */
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
        context.slots().give(this);
    }
}
