// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.host.Slab;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A slot for the edges of transfers: memory of ours that is a buffer too, and that a disk can reach. It is the device's,
 * until it is mapped for the processor to look at, and again when it is unmapped: the standard allows no command on a
 * buffer that is mapped for writing.
 *
 * <p><b>Threading:</b> the lane's, but for making and freeing.
 */
final class SsgSlot implements DeviceMemory {

    static final AtomicLong LIVE = new AtomicLong();

    private final ClSsg ssg;
    private final Slab memory;
    private final long buffer;
    private boolean mapped;

    private SsgSlot(ClSsg ssg, Slab memory, long buffer) {
        this.ssg = ssg;
        this.memory = memory;
        this.buffer = buffer;
        ssg.join();
        LIVE.incrementAndGet();
    }

    /**
     * Makes one.
     *
     * @throws io.penstock.TransientStorageException if there is no memory left
     */
    static SsgSlot allocate(ClSsg ssg, long bytes) {
        Slab memory = Slabs.shared().allocate(bytes);
        int[] error = new int[1];
        long flags = OpenCl.CL_MEM_READ_WRITE | OpenCl.CL_MEM_USE_HOST_PTR;
        long buffer = OpenCl.clCreateBuffer(ssg.context().handle(), flags, bytes, memory.hostAddress(), error);
        if (error[0] != OpenClError.SUCCESS) {
            memory.free();
            throw OpenClFailure.exception("allocation of a slot of " + bytes + " bytes", "clCreateBuffer", error[0]);
        }
        return new SsgSlot(ssg, memory, buffer);
    }

    /** Returns whether the processor has it. */
    boolean isMapped() {
        return mapped;
    }

    /** Says who has it from here on, in the order of the commands. */
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

    /** Returns its address; what lies there is what the device wrote only while it is mapped. */
    @Override
    public long hostAddress() {
        return memory.hostAddress();
    }

    @Override
    public void free() {
        if (mapped) {
            ssg.memory().unmap(buffer, memory.hostAddress());
        }
        OpenCl.clReleaseMemObject(buffer);
        memory.free();
        LIVE.decrementAndGet();
        ssg.leave();
    }
}
