// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.PenstockException;
import io.penstock.backend.opencl.ffi.BusMemory;
import io.penstock.backend.opencl.ffi.OpenCl;

/** Takes a cl_mem of the application's, with a reference, after a look at what it is. */
final class WrappedSpan {

    private final String name;
    private final ClContext context;
    private final Info info;

    private WrappedSpan(ClContext context, long handle) {
        this.name = "the cl_mem 0x" + Long.toHexString(handle);
        this.context = context;
        this.info = new Info(
                name,
                "clGetMemObjectInfo",
                (name, size, value, length) -> OpenCl.clGetMemObjectInfo(handle, name, size, value, length));
    }

    /**
     * Takes one.
     *
     * @throws IllegalArgumentException if it is none that transfers can go to
     */
    static ClSpan of(ClContext context, long handle, long bytes) {
        WrappedSpan wrapped = new WrappedSpan(context, handle);
        boolean reachable;
        try {
            wrapped.check(bytes);
            reachable = wrapped.isReachable();
        } catch (PenstockException unknown) {
            throw new IllegalArgumentException(unknown.getMessage(), unknown);
        }
        OpenClFailure.check("wrapping of " + wrapped.name, "clRetainMemObject", OpenCl.clRetainMemObject(handle));
        return new ClSpan(handle, bytes, null, reachable);
    }

    private void check(long bytes) {
        if (info.number(OpenCl.CL_MEM_TYPE) != OpenCl.CL_MEM_OBJECT_BUFFER) {
            throw new IllegalArgumentException(name + " is an image, not a buffer");
        }
        if (info.word(OpenCl.CL_MEM_CONTEXT) != context.handle()) {
            throw new IllegalArgumentException(name + " is of another cl_context, and this backend is in the " + context
                    + ": see " + OpenClOptions.CONTEXT);
        }
        if (info.word(OpenCl.CL_MEM_SIZE) < bytes) {
            throw new IllegalArgumentException(name + " has " + info.word(OpenCl.CL_MEM_SIZE) + " bytes, not " + bytes);
        }
        if ((info.word(OpenCl.CL_MEM_FLAGS) & BusMemory.CL_MEM_EXTERNAL_PHYSICAL_AMD) != 0) {
            throw new IllegalArgumentException(
                    name + " is another device's memory, which is only written to: see ExternalBuffer.copy");
        }
        if ((info.word(OpenCl.CL_MEM_FLAGS) & OpenCl.CL_MEM_HOST_NO_ACCESS) != 0) {
            throw new IllegalArgumentException(
                    name + " was made with CL_MEM_HOST_NO_ACCESS: nothing can be copied into it from the host");
        }
    }

    /** A part of another buffer starts at a block of its own, but perhaps not at one of the device's. */
    private boolean isReachable() {
        return PersistentMemory.isReachable(info.word(OpenCl.CL_MEM_FLAGS))
                && info.word(OpenCl.CL_MEM_ASSOCIATED_MEMOBJECT) == 0;
    }
}
