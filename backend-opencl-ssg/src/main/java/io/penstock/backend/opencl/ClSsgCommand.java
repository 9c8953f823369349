// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgCommand;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request of the engine's as a chain of commands of the device's, each of which waits for the one before by its event.
 * Steps are put into a command queue until one is refused, never by a blocking call: that would answer CL_SUCCESS whatever the
 * transfer came to. One object per tag of a queue, with native cells of its own.
 */
final class ClSsgCommand extends SsgCommand {

    private static final int MOST_STEPS = 2;

    private static final int STATUS = MOST_STEPS * Long.BYTES;
    private static final int NON_BLOCKING = 0;
    static final int CELL_BYTES = STATUS + Long.BYTES;

    private final ByteBuffer cells;
    private final long address;
    private final ClCall[] calls = new ClCall[MOST_STEPS];
    private int steps;
    private long queue; // that they go to

    @Nullable
    ClPoint point;

    @Nullable
    Runnable inOrder;

    boolean mapping; // the bytes were moved, and the slot is being mapped
    boolean waitsNoMore; // on the device, since an event that it waited for there has failed

    /**
     * Makes one.
     *
     * @param cells {@link #CELL_BYTES} of its own, in native order
     * @param address of them
     */
    ClSsgCommand(Request request, ByteBuffer cells, long address) {
        super(request);
        this.cells = cells;
        this.address = address;
    }

    @Override
    protected void begin() {
        super.begin();
        point = (ClPoint) request().point();
        inOrder = request().inOrder();
        mapping = false;
        waitsNoMore = false;
    }

    /** Returns whether its first step waits for events of others, unless one of these has failed. */
    boolean hasWaitList() {
        return point != null
                && point.waits() != null
                && !waitsNoMore
                && !mapping
                && !request().isCopy()
                && ring() == null;
    }

    /** Returns whether it may be submitted: once an event has failed that it waited for, when all its fences are passed. */
    boolean maySubmit() {
        WaitList waits = waitsNoMore && point != null ? point.waits() : null;
        return waits == null || waits.isPassed();
    }

    /** Puts the point of the transfer's fence behind the last step, which is in the device's order from now on. */
    void joinOrder() {
        ClPoint joined = point;
        Runnable told = inOrder;
        inOrder = null; // once, also where it goes round again
        if (joined != null && told != null && isUnderWay()) {
            joined.join(lastEvent());
            told.run();
        }
    }

    /** Returns the event to wait for before the next step, as a count. */
    private int waits() {
        return steps == 0 ? 0 : 1;
    }

    /** Returns the address of the event to wait for before the next step. */
    private long waitList() {
        return steps == 0 ? 0 : address + (steps - 1L) * Long.BYTES;
    }

    /** Returns the address of the cell for the next step's event. */
    private long eventCell() {
        return address + (long) steps * Long.BYTES;
    }

    /** Returns the address of a cell for an error code. */
    private long errorCell() {
        return address + STATUS;
    }

    /** Returns what is in that cell. */
    private int error() {
        return cells.getInt(STATUS);
    }

    /** Takes the answer to the next step; returns whether it stands in the queue. */
    private boolean step(ClCall call, int answer) {
        if (answer != OpenClError.SUCCESS) {
            fails(call.failure(answer));
            return false;
        }
        calls[steps++] = call;
        return true;
    }

    /** Reads or writes whole blocks: straight, through a slot that the processor may look at, or through the ring. */
    void file(long to) {
        queue = to;
        DeviceMemory memory = memory();
        DeviceMemory ring = ring();
        boolean read = kind() == Request.Kind.READ;
        if (memory instanceof SsgSlot slot) {
            if (unmap(slot)) {
                blocks(slot.nativeHandle(), memoryOffset());
            }
        } else if (ring == null) {
            blocks(memory.nativeHandle(), memoryOffset());
        } else if (read) {
            if (blocks(ring.nativeHandle(), 0)) {
                copy(ring.nativeHandle(), 0, memory.nativeHandle(), memoryOffset(), wanted());
            }
        } else if (copy(memory.nativeHandle(), memoryOffset(), ring.nativeHandle(), 0, bytes())) {
            blocks(ring.nativeHandle(), 0);
        }
    }

    /** Copies between a slot and a buffer. */
    void copy(long to) {
        queue = to;
        SsgSlot slot = (SsgSlot) slot();
        long buffer = memory().nativeHandle();
        if (!unmap(slot)) {
            return;
        }
        if (kind() == Request.Kind.COPY_IN) {
            copy(slot.nativeHandle(), slotOffset(), buffer, memoryOffset(), bytes());
        } else {
            copy(buffer, memoryOffset(), slot.nativeHandle(), slotOffset(), bytes());
        }
    }

    private boolean blocks(long buffer, long offset) {
        long object = object().handle();
        long bytes = wholeBlocks();
        // Events of the application's can only be waited for where nothing of ours comes before.
        WaitList own = point == null || !hasWaitList() || isUnderWay() ? null : point.waits();
        int waits = own == null ? waits() : own.count();
        long list = own == null ? waitList() : own.address();
        long cell = eventCell();
        long from = fileOffset();
        if (kind() == Request.Kind.READ) {
            return step(
                    ClCall.READ_FILE,
                    Ssg.clEnqueueReadSsgFileAMD(
                            queue, buffer, NON_BLOCKING, offset, bytes, object, from, waits, list, cell));
        }
        return step(
                ClCall.WRITE_FILE,
                Ssg.clEnqueueWriteSsgFileAMD(
                        queue, buffer, NON_BLOCKING, offset, bytes, object, from, waits, list, cell));
    }

    private boolean copy(long source, long sourceOffset, long target, long targetOffset, long bytes) {
        return step(
                ClCall.COPY_BUFFER,
                OpenCl.clEnqueueCopyBuffer(
                        queue, source, target, sourceOffset, targetOffset, bytes, waits(), waitList(), eventCell()));
    }

    private boolean unmap(SsgSlot slot) {
        if (!slot.isMapped()) {
            return true;
        }
        boolean unmapped = step(
                ClCall.UNMAP,
                OpenCl.clEnqueueUnmapMemObject(
                        queue, slot.nativeHandle(), slot.hostAddress(), waits(), waitList(), eventCell()));
        slot.mapped(!unmapped);
        return unmapped;
    }

    /** Gives a slot to the processor; a chain of its own, since a driver may map what it reads a file into itself. */
    void map(long to, SsgSlot slot) {
        queue = to;
        long flags = OpenCl.CL_MAP_READ | OpenCl.CL_MAP_WRITE;
        OpenCl.clEnqueueMapBuffer(
                queue,
                slot.nativeHandle(),
                NON_BLOCKING,
                flags,
                0,
                slot.bytes(),
                waits(),
                waitList(),
                eventCell(),
                errorCell());
        slot.mapped(step(ClCall.MAP_BUFFER, error()));
    }

    /** Returns whether any step stands in a queue. */
    boolean isUnderWay() {
        return steps > 0;
    }

    /** Returns the last step's event. */
    long lastEvent() {
        return cells.getLong((steps - 1) * Long.BYTES);
    }

    /** Returns whether the device has passed all steps, the last to have failed included. */
    boolean hasEnded() {
        for (int step = steps - 1; step >= 0; step--) {
            if (status(step) > OpenCl.CL_COMPLETE) {
                return false;
            }
        }
        return true;
    }

    /** Returns the status of a step; negative where the driver has none. */
    private int status(int step) {
        int asked = OpenCl.clGetEventInfo(
                cells.getLong(step * Long.BYTES),
                OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS,
                Integer.BYTES,
                address + STATUS,
                0);
        return asked == OpenClError.SUCCESS ? error() : -Math.abs(asked);
    }

    /** Returns the status of the first step. */
    int firstStatus() {
        return status(0);
    }

    /** Lets go of the events, and returns what the first step that failed says, or null. */
    @Nullable
    NativeFailure forgetSteps() {
        NativeFailure failed = null;
        for (int step = 0; step < steps; step++) {
            int status = status(step);
            if (status < OpenCl.CL_COMPLETE && failed == null) {
                failed = calls[step].failureByEvent(status);
            }
            OpenCl.clReleaseEvent(cells.getLong(step * Long.BYTES));
        }
        steps = 0;
        return failed;
    }

    @Override
    protected void forget() {
        point = null;
        inOrder = null;
    }
}
