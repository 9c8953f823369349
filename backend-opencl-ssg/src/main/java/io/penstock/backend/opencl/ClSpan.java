// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.host.Slab;
import io.penstock.engine.host.Slabs;
import org.jspecify.annotations.Nullable;

/**
 * One cl_mem. Compared as an object: a handle may come again.
 *
 * @param handle the cl_mem
 * @param bytes of it
 * @param backing our memory that it lies in, where the device shares the host's; else null
 * @param isReachable whether a disk can reach it, by AMD's extension
 */
record ClSpan(long handle, long bytes, @Nullable Slab backing, boolean isReachable) {

    /**
     * Makes a buffer.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    static ClSpan create(ClContext context, long bytes) {
        // Memory of ours: at a page's start, which O_DIRECT wants, and known to io_uring.
        return create(
                context,
                bytes,
                context.device().sharesHostMemory() ? Slabs.shared().allocate(bytes) : null);
    }

    /** As above, where the driver likes, also on a device that shares the host's memory. */
    static ClSpan ordinary(ClContext context, long bytes) {
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
        return new ClSpan(handle, bytes, backing, PersistentMemory.isReachable(flags));
    }

    /** Releases it; no command uses it any more. */
    void release() {
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
