// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.PenstockException;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.ssg.SsgHeap;
import io.penstock.engine.spi.ssg.SsgSizes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Buffers of one context that a disk can reach, as long as there is persistent memory for them, and ordinary ones beyond.
 * Whether the driver keeps its word it does not say: what it makes when its own heap is gone looks the same.
 *
 * <p>Each is touched by the device before it is handed out: only then it is where files are to be read to, says the vendor.
 *
 * <p><b>Threading:</b> thread-safe; allocating blocks.
 */
final class PersistentMemory {

    /** That of this process. The driver has 128 MB of it for all applications together. */
    static final SsgHeap HEAP = new SsgHeap();

    private final ClContext context;
    private final long most;
    private final long queue; // carries nothing but that touch
    private final ByteBuffer cells = ByteBuffer.allocateDirect(2 * Long.BYTES).order(ByteOrder.nativeOrder());

    /**
     * Makes buffers of a context.
     *
     * @param most bytes of persistent memory that may be in use in this process
     * @throws PenstockException with the driver's answer
     */
    PersistentMemory(ClContext context, long most) {
        this.context = context;
        this.most = most;
        this.queue = context.createQueue(0);
    }

    /** Returns whether a disk can reach buffers that were made with these flags. */
    static boolean isReachable(long flags) {
        long wanted = OpenCl.CL_MEM_ALLOC_HOST_PTR | OpenCl.CL_MEM_USE_HOST_PTR | Ssg.CL_MEM_USE_PERSISTENT_MEM_AMD;
        long refused = OpenCl.CL_MEM_HOST_READ_ONLY | OpenCl.CL_MEM_HOST_NO_ACCESS;
        return (flags & wanted) != 0 && (flags & refused) == 0;
    }

    /**
     * Allocates a buffer of whole pages.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    ClMemory allocate(long bytes) {
        long rounded = SsgSizes.wholePages(bytes);
        context.join();
        try {
            ClSpan persistent = take(rounded);
            if (persistent != null) {
                return new ClMemory(persistent, bytes, () -> later(() -> give(persistent)));
            }
            ClSpan ordinary = ClSpan.ordinary(context, rounded);
            return new ClMemory(
                    ordinary,
                    bytes,
                    () -> later(() -> {
                        ordinary.release();
                        context.leave();
                    }));
        } catch (RuntimeException e) {
            context.leave();
            throw e;
        }
    }

    private void give(ClSpan persistent) {
        release(persistent);
        context.leave();
    }

    /** Runs what may wait for the device: elsewhere, if the calling thread must not. */
    private static void later(Runnable release) {
        if (Schedulers.isInNonBlockingThread()) {
            Schedulers.boundedElastic().schedule(release);
        } else {
            release.run();
        }
    }

    /** Takes persistent memory, which the caller gives back by {@link #release}; null if there is none left. */
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
                return null; // a driver that does say so
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

    /** Unmaps a buffer, and waits for that. */
    synchronized void unmap(long handle, long address) {
        OpenCl.clEnqueueUnmapMemObject(queue, handle, address, 0, 0, 0);
        OpenCl.clFinish(queue);
    }

    /** Gives back what {@link #take} gave; no command uses it any more. */
    static void release(ClSpan persistent) {
        persistent.release();
        HEAP.give(persistent.bytes());
    }

    void close() {
        OpenCl.clReleaseCommandQueue(queue);
    }
}
