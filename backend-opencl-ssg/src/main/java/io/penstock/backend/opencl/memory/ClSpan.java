// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.memory;

import io.penstock.PenstockException;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.cl.Info;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.BusMemory;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import org.jspecify.annotations.Nullable;

/**
 * One cl_mem. Compared by identity: a handle may be reused.
 *
 * @param handle the cl_mem
 * @param bytes its size
 * @param backing the host slab behind it, where the device shares the host's memory; otherwise null
 * @param isReachable true if a disk can reach it, by AMD's extension
 */
public record ClSpan(long handle, long bytes, @Nullable Slab backing, boolean isReachable) {

    /**
     * Creates a buffer.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    static ClSpan create(ClContext context, long bytes) {
        // In host memory: page-aligned, as O_DIRECT requires, and registered with io_uring.
        return create(
                context,
                bytes,
                context.device().sharesHostMemory() ? Slabs.shared().allocate(bytes) : null);
    }

    /** As above, placed by the driver, even on a device that shares the host's memory. */
    public static ClSpan ordinary(ClContext context, long bytes) {
        return create(context, bytes, null);
    }

    private static ClSpan create(ClContext context, long bytes, @Nullable Slab backing) {
        long flags = OpenCl.CL_MEM_READ_WRITE | (backing == null ? 0 : OpenCl.CL_MEM_USE_HOST_PTR);
        int[] error = new int[1];
        long handle = OpenCl.clCreateBuffer(
                context.handle(), flags, bytes, backing == null ? 0 : backing.hostAddress(), error);
        if (error[0] != 0) {
            if (backing != null) {
                backing.free();
            }
            throw OpenClFailure.exception(
                    "allocation of " + bytes + " bytes on " + context.device(), "clCreateBuffer", error[0]);
        }
        return new ClSpan(handle, bytes, backing, isReachable(flags));
    }

    /**
     * Retains a cl_mem of the application, after checking its properties.
     *
     * @throws IllegalArgumentException if transfers cannot use it
     */
    public static ClSpan wrap(ClContext context, long handle, long bytes) {
        Info info = Info.memory(handle);
        boolean reachable;
        try {
            check(context, info, bytes);
            // A sub-buffer is aligned by its own blocks, but possibly not by the device's.
            reachable =
                    isReachable(info.word(OpenCl.CL_MEM_FLAGS)) && info.word(OpenCl.CL_MEM_ASSOCIATED_MEMOBJECT) == 0;
        } catch (PenstockException unknown) {
            throw new IllegalArgumentException(unknown.getMessage(), unknown);
        }
        OpenClFailure.check("wrapping of " + info, "clRetainMemObject", OpenCl.clRetainMemObject(handle));
        return new ClSpan(handle, bytes, null, reachable);
    }

    private static void check(ClContext context, Info info, long bytes) {
        if (info.number(OpenCl.CL_MEM_TYPE) != OpenCl.CL_MEM_OBJECT_BUFFER) {
            throw new IllegalArgumentException(info + " is an image, not a buffer");
        }
        if (info.word(OpenCl.CL_MEM_CONTEXT) != context.handle()) {
            throw new IllegalArgumentException(info + " is of another cl_context, this backend uses the " + context
                    + ": see " + OpenClOptions.CONTEXT);
        }
        if (info.word(OpenCl.CL_MEM_SIZE) < bytes) {
            throw new IllegalArgumentException(info + " has " + info.word(OpenCl.CL_MEM_SIZE) + " bytes, not " + bytes);
        }
        if ((info.word(OpenCl.CL_MEM_FLAGS) & BusMemory.CL_MEM_EXTERNAL_PHYSICAL_AMD) != 0) {
            throw new IllegalArgumentException(
                    info + " is another device's memory, which is only written to: see ExternalBuffer.copy");
        }
        if ((info.word(OpenCl.CL_MEM_FLAGS) & OpenCl.CL_MEM_HOST_NO_ACCESS) != 0) {
            throw new IllegalArgumentException(
                    info + " was made with CL_MEM_HOST_NO_ACCESS: nothing can be copied into it from the host");
        }
    }

    /** Returns true if a disk can reach, by AMD's extension, buffers that were created with these flags. */
    private static boolean isReachable(long flags) {
        long wanted = OpenCl.CL_MEM_ALLOC_HOST_PTR | OpenCl.CL_MEM_USE_HOST_PTR | Ssg.CL_MEM_USE_PERSISTENT_MEM_AMD;
        long refused = OpenCl.CL_MEM_HOST_READ_ONLY | OpenCl.CL_MEM_HOST_NO_ACCESS;
        return (flags & wanted) != 0 && (flags & refused) == 0;
    }

    /** Releases it; no command may use it any more. */
    public void release() {
        OpenCl.clReleaseMemObject(handle);
        if (backing != null) {
            backing.free();
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
