// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ssg;

import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.kit.ssg.SsgDevice;
import io.penstock.engine.spi.DeviceMemory;

/**
 * A bounce buffer for the edges of transfers: host memory that is also a cl_mem, and that a disk can reach. The device
 * owns it, except while it is mapped for the processor: the standard allows no command on a buffer that is mapped for
 * writing.
 *
 * <p><b>Threading:</b> the I/O queue's thread, except for creation and release.
 */
public final class SsgBounceBuffer implements DeviceMemory {

    private final SsgDevice<?> user;
    private final PersistentMemory persistent;
    private final Slab memory;
    private final long buffer;
    private boolean mapped;

    private SsgBounceBuffer(SsgDevice<?> user, PersistentMemory persistent, Slab memory, long buffer) {
        this.user = user;
        this.persistent = persistent;
        this.memory = memory;
        this.buffer = buffer;
        user.join();
        LiveObjects.add(SsgBounceBuffer.class);
    }

    /**
     * Allocates a bounce buffer.
     *
     * @param user the device; the buffer becomes a user of it
     * @param persistent the memory of that device
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    static SsgBounceBuffer allocate(SsgDevice<?> user, PersistentMemory persistent, long bytes) {
        Slab memory = Slabs.shared().allocate(bytes);
        int[] error = new int[1];
        long flags = OpenCl.CL_MEM_READ_WRITE | OpenCl.CL_MEM_USE_HOST_PTR;
        long buffer = OpenCl.clCreateBuffer(persistent.context().handle(), flags, bytes, memory.hostAddress(), error);
        if (error[0] != OpenClError.SUCCESS) {
            memory.free();
            throw OpenClFailure.exception(
                    "allocation of a staging buffer of " + bytes + " bytes", "clCreateBuffer", error[0]);
        }
        return new SsgBounceBuffer(user, persistent, memory, buffer);
    }

    /** Returns true if it is mapped for the processor. */
    boolean isMapped() {
        return mapped;
    }

    /** Records whether it is mapped from here on, in the order of the commands. */
    void mapped(boolean now) {
        mapped = now;
    }

    /** Returns the cl_mem. */
    @Override
    public long nativeHandle() {
        return buffer;
    }

    @Override
    public long bytes() {
        return memory.bytes();
    }

    /** Returns its address; it holds what the device wrote only while it is mapped. */
    @Override
    public long hostAddress() {
        return memory.hostAddress();
    }

    @Override
    public void free() {
        if (mapped) {
            persistent.unmap(buffer, memory.hostAddress());
        }
        OpenCl.clReleaseMemObject(buffer);
        memory.free();
        LiveObjects.remove(SsgBounceBuffer.class);
        user.leave();
    }
}
