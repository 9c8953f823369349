// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ssg;

import io.penstock.backend.opencl.cl.ClCall;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.context.WaitList;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.kit.ssg.SsgCommand;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request as a chain of device commands, each of which waits for the previous one by its event. Steps are enqueued
 * until one is refused, never by a blocking call, which would return CL_SUCCESS whatever the result. One object per tag
 * of a queue, with its own native cells.
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
    private long queue; // the queue of its steps

    @Nullable
    ClPoint point;

    @Nullable
    Runnable inOrder;

    private long end; // the user event of a command that may be submitted again: signalled when that has ended

    boolean mapping; // the bytes were moved, and the staging buffer is being mapped
    boolean waitsNoMore; // on the device, since an event that it waited for there has failed

    /**
     * Creates a command.
     *
     * @param cells its own {@link #CELL_BYTES}, in native order
     * @param address the address of the cells
     */
    ClSsgCommand(Request request, ByteBuffer cells, long address) {
        super(request);
        this.cells = cells;
        this.address = address;
    }

    @Override
    protected void begin() {
        super.begin();
        point = (ClPoint) request.point();
        inOrder = request.inOrder();
        mapping = false;
        waitsNoMore = false;
    }

    /** Returns true if its first step waits for imported events and none of these has failed. */
    boolean hasWaitList() {
        return point != null
                && point.waits() != null
                && !waitsNoMore
                && !mapping
                && !request.isCopy()
                && ring() == null;
    }

    /**
     * Returns true if it may be submitted: once an awaited event has failed, when all its fences are signalled.
     */
    boolean maySubmit() {
        WaitList waits = waitsNoMore && point != null ? point.waits() : null;
        return waits == null || waits.isSignalled();
    }

    /** Places the point of the transfer's fence behind the last step, which is stream-ordered from now on. */
    void joinOrder() {
        ClPoint joined = point;
        Runnable notify = inOrder;
        inOrder = null; // once, even if it is submitted again
        if (joined != null && notify != null && isInFlight()) {
            if (hasWaitList()) {
                end = joined.joinByUserEvent();
            } else {
                joined.join(lastEvent());
            }
            notify.run();
        }
    }

    /** Returns the number of events that the next step waits for. */
    private int waits() {
        return steps == 0 ? 0 : 1;
    }

    /** Returns the address of the event that the next step waits for. */
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

    /** Returns the content of that cell. */
    private int error() {
        return cells.getInt(STATUS);
    }

    /** Records the result of the next step; returns true if it was enqueued. */
    private boolean step(ClCall call, int answer) {
        if (answer != OpenClError.SUCCESS) {
            fails(call.failure(answer));
            return false;
        }
        calls[steps++] = call;
        return true;
    }

    /**
     * Reads or writes whole blocks: directly, through a staging buffer that the processor can map, or through the ring.
     */
    void file(long to) {
        queue = to;
        DeviceMemory memory = request.memory();
        DeviceMemory ring = ring();
        boolean read = request.kind() == Request.Kind.READ;
        if (memory instanceof SsgBounceBuffer staging) {
            if (unmap(staging)) {
                blocks(staging.nativeHandle(), request.memoryOffset());
            }
        } else if (ring == null) {
            blocks(memory.nativeHandle(), request.memoryOffset());
        } else if (read) {
            if (blocks(ring.nativeHandle(), 0)) {
                copy(ring.nativeHandle(), 0, memory.nativeHandle(), request.memoryOffset(), requestedBytes());
            }
        } else if (copy(memory.nativeHandle(), request.memoryOffset(), ring.nativeHandle(), 0, request.bytes())) {
            blocks(ring.nativeHandle(), 0);
        }
    }

    /** Copies between a staging buffer and a buffer. */
    void copy(long to) {
        queue = to;
        SsgBounceBuffer staging = (SsgBounceBuffer) request.staging();
        long buffer = request.memory().nativeHandle();
        if (!unmap(staging)) {
            return;
        }
        if (request.kind() == Request.Kind.COPY_IN) {
            copy(staging.nativeHandle(), request.stagingOffset(), buffer, request.memoryOffset(), request.bytes());
        } else {
            copy(buffer, request.memoryOffset(), staging.nativeHandle(), request.stagingOffset(), request.bytes());
        }
    }

    private boolean blocks(long buffer, long offset) {
        long object = object().handle();
        long bytes = wholeBlocks();
        // Imported events can be waited for only if no step of this chain comes before.
        WaitList own = point == null || !hasWaitList() || isInFlight() ? null : point.waits();
        int waits = own == null ? waits() : own.count();
        long list = own == null ? waitList() : own.address();
        long cell = eventCell();
        long from = request.fileOffset();
        int answer = isWrite()
                ? Ssg.clEnqueueWriteSsgFileAMD(
                        queue, buffer, NON_BLOCKING, offset, bytes, object, from, waits, list, cell)
                : Ssg.clEnqueueReadSsgFileAMD(
                        queue, buffer, NON_BLOCKING, offset, bytes, object, from, waits, list, cell);
        return step(isWrite() ? ClCall.WRITE_FILE : ClCall.READ_FILE, answer);
    }

    private boolean copy(long source, long sourceOffset, long target, long targetOffset, long bytes) {
        return step(
                ClCall.COPY_BUFFER,
                OpenCl.clEnqueueCopyBuffer(
                        queue, source, target, sourceOffset, targetOffset, bytes, waits(), waitList(), eventCell()));
    }

    private boolean unmap(SsgBounceBuffer staging) {
        if (!staging.isMapped()) {
            return true;
        }
        boolean unmapped = step(
                ClCall.UNMAP,
                OpenCl.clEnqueueUnmapMemObject(
                        queue, staging.nativeHandle(), staging.hostAddress(), waits(), waitList(), eventCell()));
        staging.mapped(!unmapped);
        return unmapped;
    }

    /**
     * Maps a staging buffer for the processor; a chain of its own, since a driver may itself map a buffer that it reads
     * a file into.
     */
    void map(long to, SsgBounceBuffer staging) {
        queue = to;
        long flags = OpenCl.CL_MAP_READ | OpenCl.CL_MAP_WRITE;
        OpenCl.clEnqueueMapBuffer(
                queue,
                staging.nativeHandle(),
                NON_BLOCKING,
                flags,
                0,
                staging.bytes(),
                waits(),
                waitList(),
                eventCell(),
                errorCell());
        staging.mapped(step(ClCall.MAP_BUFFER, error()));
    }

    /** Returns true if any step is enqueued. */
    boolean isInFlight() {
        return steps > 0;
    }

    /** Returns the last step's event. */
    long lastEvent() {
        return cells.getLong((steps - 1) * Long.BYTES);
    }

    /** Returns true if the device has completed all steps, failed ones included. */
    boolean hasEnded() {
        for (int step = steps - 1; step >= 0; step--) {
            if (status(step) > OpenCl.CL_COMPLETE) {
                return false;
            }
        }
        return true;
    }

    /** Returns the status of a step; negative if the driver does not return one. */
    private int status(int step) {
        int result = OpenCl.clGetEventInfo(
                cells.getLong(step * Long.BYTES),
                OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS,
                Integer.BYTES,
                address + STATUS,
                0);
        if (result == OpenClError.SUCCESS) {
            return error();
        }
        ClCall.awaitEnd(result, address + (long) step * Long.BYTES);
        return -Math.abs(result);
    }

    /** Returns the status of the first step. */
    int firstStatus() {
        return status(0);
    }

    /** Releases the events, and returns the failure of the first failed step, or null. */
    @Nullable
    NativeFailure clearSteps() {
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
    protected void clear() {
        if (end != 0) {
            NativeFailure failed = failure();
            long code = failed == null ? OpenCl.CL_COMPLETE : failed.error().code();
            OpenCl.clSetUserEventStatus(end, failed != null && code >= 0 ? OpenClError.INVALID_OPERATION : (int) code);
            OpenCl.clReleaseEvent(end);
            end = 0;
        }
        point = null;
        inOrder = null;
    }
}
