// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import java.util.Objects;

/**
 * Puts the chain of a task into a command queue, step by step, until one is refused. Never a blocking call: it would
 * answer CL_SUCCESS whatever the transfer came to.
 */
final class SsgChain {

    private static final int NON_BLOCKING = 0;

    private final SsgTask task;
    private final long queue;

    SsgChain(SsgTask task, long queue) {
        this.task = task;
        this.queue = queue;
    }

    /** Reads or writes whole blocks: straight, through a slot that the processor may look at, or through the ring. */
    void file() {
        DeviceMemory memory = task.memory();
        ClSpan ring = task.ring;
        boolean read = task.kind() == Request.Kind.READ;
        if (memory instanceof SsgSlot slot) {
            if (unmap(slot)) {
                blocks(slot.nativeHandle(), task.memoryOffset());
            }
        } else if (ring == null) {
            blocks(memory.nativeHandle(), task.memoryOffset());
        } else if (read) {
            if (blocks(ring.handle(), 0)) {
                copy(ring.handle(), 0, memory.nativeHandle(), task.memoryOffset(), task.wanted());
            }
        } else if (copy(memory.nativeHandle(), task.memoryOffset(), ring.handle(), 0, task.bytes())) {
            blocks(ring.handle(), 0);
        }
    }

    /** Copies between a slot and a buffer. */
    void copy() {
        SsgSlot slot = (SsgSlot) task.slot();
        long buffer = task.memory().nativeHandle();
        if (!unmap(slot)) {
            return;
        }
        if (task.kind() == Request.Kind.COPY_IN) {
            copy(slot.nativeHandle(), task.slotOffset(), buffer, task.memoryOffset(), task.bytes());
        } else {
            copy(buffer, task.memoryOffset(), slot.nativeHandle(), task.slotOffset(), task.bytes());
        }
    }

    private boolean blocks(long buffer, long offset) {
        long object = Objects.requireNonNull(task.object).handle();
        long bytes = task.wholeBlocks();
        // Events of the application's can only be waited for where nothing of ours comes before.
        WaitList own = task.point == null || !task.hasWaitList() || task.isUnderWay() ? null : task.point.waits();
        int waits = own == null ? task.waits() : own.count();
        long list = own == null ? task.waitList() : own.address();
        long cell = task.eventCell();
        long from = task.fileOffset();
        if (task.kind() == Request.Kind.READ) {
            return task.step(
                    ClCall.READ_FILE,
                    Ssg.clEnqueueReadSsgFileAMD(
                            queue, buffer, NON_BLOCKING, offset, bytes, object, from, waits, list, cell));
        }
        return task.step(
                ClCall.WRITE_FILE,
                Ssg.clEnqueueWriteSsgFileAMD(
                        queue, buffer, NON_BLOCKING, offset, bytes, object, from, waits, list, cell));
    }

    private boolean copy(long source, long sourceOffset, long target, long targetOffset, long bytes) {
        return task.step(
                ClCall.COPY_BUFFER,
                OpenCl.clEnqueueCopyBuffer(
                        queue,
                        source,
                        target,
                        sourceOffset,
                        targetOffset,
                        bytes,
                        task.waits(),
                        task.waitList(),
                        task.eventCell()));
    }

    private boolean unmap(SsgSlot slot) {
        if (!slot.isMapped()) {
            return true;
        }
        boolean unmapped = task.step(
                ClCall.UNMAP,
                OpenCl.clEnqueueUnmapMemObject(
                        queue,
                        slot.nativeHandle(),
                        slot.hostAddress(),
                        task.waits(),
                        task.waitList(),
                        task.eventCell()));
        slot.mapped(!unmapped);
        return unmapped;
    }

    /** Gives a slot to the processor; a chain of its own, since a driver may map what it reads a file into itself. */
    void map(SsgSlot slot) {
        long flags = OpenCl.CL_MAP_READ | OpenCl.CL_MAP_WRITE;
        OpenCl.clEnqueueMapBuffer(
                queue,
                slot.nativeHandle(),
                NON_BLOCKING,
                flags,
                0,
                slot.bytes(),
                task.waits(),
                task.waitList(),
                task.eventCell(),
                task.errorCell());
        slot.mapped(task.step(ClCall.MAP_BUFFER, task.error()));
    }
}
