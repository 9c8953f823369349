// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ssg;

import io.penstock.PenstockException;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.backend.opencl.memory.ClSpan;
import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ssg.SsgHeap;
import io.penstock.engine.kit.ssg.SsgSizes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Buffers of one context that a disk can reach, as long as persistent memory is available, and ordinary ones beyond.
 * The driver does not report whether a buffer really is persistent: one created after its own heap is full looks the
 * same.
 *
 * <p>The device touches each buffer before it is handed out: according to the vendor, only then is it placed where
 * files are read to.
 *
 * <p><b>Threading:</b> thread-safe; allocating blocks.
 */
public final class PersistentMemory {

    /** The heap of this process. The driver has 128 MB for all applications together. */
    public static final SsgHeap HEAP = new SsgHeap();

    private final ClContext context;
    private final long most;
    private final long queue; // used only for that touch
    private final ByteBuffer cells = ByteBuffer.allocateDirect(2 * Long.BYTES).order(ByteOrder.nativeOrder());

    /**
     * Creates the persistent memory of a context.
     *
     * @param most the limit of persistent bytes in use by this process
     * @throws PenstockException with the driver's answer
     */
    PersistentMemory(ClContext context, long most) {
        this.context = context;
        this.most = most;
        this.queue = context.createQueue(0);
    }

    ClContext context() {
        return context;
    }

    /**
     * Allocates a buffer of whole pages.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    public ClMemory allocate(long bytes) {
        long rounded = SsgSizes.wholePages(bytes);
        context.join();
        try {
            ClSpan persistent = take(rounded);
            ClSpan span = persistent != null ? persistent : ClSpan.ordinary(context, rounded);
            return new ClMemory(
                    context,
                    span,
                    bytes,
                    () -> later(() -> {
                        span.release();
                        HEAP.give(persistent == null ? 0 : rounded);
                        context.leave();
                    }));
        } catch (RuntimeException | Error e) {
            context.leave();
            throw e;
        }
    }

    /** Runs a release, which may wait for the device: on another thread if the calling thread must not block. */
    private static void later(Runnable release) {
        if (Schedulers.isInNonBlockingThread()) {
            ElasticCalls.run(release);
        } else {
            release.run();
        }
    }

    /** Takes persistent memory, which the caller returns by {@link #release}; null if there is none left. */
    @Nullable
    ClSpan take(long bytes) {
        if (!HEAP.take(bytes, most)) {
            return null;
        }
        try {
            return create(bytes);
        } catch (PenstockException e) {
            HEAP.give(bytes);
            if (e.nativeError().map(error -> (int) error.code()).orElse(0)
                    == OpenClError.MEM_OBJECT_ALLOCATION_FAILURE) {
                return null; // a driver that does report it
            }
            throw e;
        }
    }

    private ClSpan create(long bytes) {
        String request = "allocation of " + bytes + " bytes of persistent memory on " + context.device();
        int[] error = new int[1];
        long flags = OpenCl.CL_MEM_READ_WRITE | Ssg.CL_MEM_USE_PERSISTENT_MEM_AMD;
        long handle = OpenCl.clCreateBuffer(context.handle(), flags, bytes, 0, error);
        OpenClFailure.check(request, "clCreateBuffer", error[0]);
        try {
            touch(request, handle, bytes);
        } catch (PenstockException e) {
            OpenCl.clReleaseMemObject(handle);
            throw e;
        }
        return new ClSpan(handle, bytes, null, true);
    }

    private synchronized void touch(String request, long handle, long bytes) {
        cells.putLong(0, 0);
        long pattern = NativeMemory.address(cells);
        int filled = OpenCl.clEnqueueFillBuffer(queue, handle, pattern, Integer.BYTES, 0, bytes, 0, 0, pattern + 8);
        OpenClFailure.check(request, "clEnqueueFillBuffer", filled);
        int waited = OpenCl.clWaitForEvents(1, pattern + 8);
        OpenCl.clReleaseEvent(cells.getLong(8));
        OpenClFailure.check(request, "clWaitForEvents", waited);
    }

    /** Unmaps a buffer, and blocks until that has completed. */
    synchronized void unmap(long handle, long address) {
        OpenCl.clEnqueueUnmapMemObject(queue, handle, address, 0, 0, 0);
        OpenCl.clFinish(queue);
    }

    /** Releases what {@link #take} returned; no command may use it any more. */
    static void release(ClSpan persistent) {
        persistent.release();
        HEAP.give(persistent.bytes());
    }

    void close() {
        OpenCl.clReleaseCommandQueue(queue);
    }
}
