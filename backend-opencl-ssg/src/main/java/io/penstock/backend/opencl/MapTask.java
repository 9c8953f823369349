// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.host.Slab;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A request of a {@link MapQueue}, one object per tag: a range of a buffer that is mapped, worked on by the host,
 * and unmapped.
 *
 * <p><b>Threading:</b> the lane's; {@link MapTurns} compares the ranges of all, under its lock, while they hold or want one.
 */
final class MapTask implements Request.Completion {

    /** What a task is at. */
    enum Step {
        /** Another has a part of its range. */
        TURN(ClCall.MAP_BUFFER),
        MAP(ClCall.MAP_BUFFER),
        /** With the host's queue. */
        HOST(ClCall.COPY),
        UNMAP(ClCall.UNMAP),
        /** To be reported. */
        END(ClCall.COPY);

        final ClCall call;

        Step(ClCall call) {
            this.call = call;
        }
    }

    private static final int EVENT = 0;
    private static final int STATUS = 8;
    private static final int ERROR = 12;
    private static final int CELL_BYTES = 16;

    final Request request;
    final Request host; // what the host's queue gets
    private final MapQueue queue;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long cellAddress = NativeMemory.address(cells);
    private final MappedRange range = new MappedRange();

    Step step = Step.END;

    /** What was moved. */
    long moved;

    /** Why it failed; null where it has not. */
    @Nullable
    NativeFailure failure;

    /** Whether it is to be given up at the next step. */
    boolean cancelled;

    private @Nullable Runnable inOrder;
    private long mapped; // the address

    MapTask(Request request, MapQueue queue) {
        this.request = request;
        this.host = new Request(request.tag(), this);
        this.queue = queue;
    }

    /** Begins with what the request says now. */
    void begin() {
        inOrder = request.inOrder();
        moved = 0;
        failure = null;
        cancelled = false;
    }

    /** Returns whether it works on a range that is mapped for it; else the host's queue does it all. */
    boolean maps() {
        return request.kind() != Request.Kind.SYNC && request.memory() instanceof ClMemory;
    }

    /** Ends the request. */
    void report() {
        host.clear();
        inOrder = null;
        request.end(moved, failure);
    }

    @Override
    public void ended(Request hostPart, long bytes, @Nullable NativeFailure cause) {
        moved = bytes;
        failure = cause;
        queue.hostEnded(this);
    }

    /** Returns whether it works on some of the same bytes. */
    boolean overlaps(MapTask other) {
        long from = request.memoryOffset();
        long otherFrom = other.request.memoryOffset();
        return memory().nativeHandle() == other.memory().nativeHandle()
                && from < otherFrom + other.request.bytes()
                && otherFrom < from + request.bytes();
    }

    void turnHasCome() {
        queue.turnHasCome(this);
    }

    /**
     * Has the range mapped; {@link #isSettled} tells when it is.
     *
     * @return an error code
     */
    int map(long queue) {
        // Not INVALIDATE_REGION, which may bring back anything where the file ends early (rule 206).
        mapped = OpenCl.clEnqueueMapBuffer(
                queue,
                memory().nativeHandle(),
                0,
                request.isInward() ? OpenCl.CL_MAP_WRITE : OpenCl.CL_MAP_READ,
                request.memoryOffset(),
                request.bytes(),
                0,
                0,
                cellAddress + EVENT,
                cellAddress + ERROR);
        return cells.getInt(ERROR);
    }

    /** Has the range unmapped, and puts the transfer's point behind that; answers as {@link #map}. */
    int unmap(long queue) {
        int unmapped =
                OpenCl.clEnqueueUnmapMemObject(queue, memory().nativeHandle(), mapped, 0, 0, cellAddress + EVENT);
        ClPoint point = (ClPoint) request.point();
        if (unmapped == OpenClError.SUCCESS && point != null) {
            point.join(event());
        }
        return unmapped;
    }

    /** Returns whether a callback waits for the request to be in the device's order. */
    boolean isAwaited() {
        return inOrder != null;
    }

    /** Runs that callback, once: the unmap has been flushed. */
    void standsInOrder() {
        if (inOrder != null) {
            inOrder.run();
            inOrder = null;
        }
    }

    /** Returns whether the map or unmap that is under way has ended; {@link #stepFailure} tells how. */
    boolean isSettled() {
        int asked = OpenCl.clGetEventInfo(
                event(), OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, cellAddress + STATUS, 0);
        if (asked == OpenClError.SUCCESS && cells.getInt(STATUS) > OpenCl.CL_COMPLETE) {
            return false;
        }
        OpenCl.clReleaseEvent(event());
        cells.putInt(ERROR, asked);
        return true;
    }

    /** Returns why the map or unmap that has ended has failed; null if it has not. */
    @Nullable
    NativeFailure stepFailure() {
        int asked = cells.getInt(ERROR);
        if (asked != OpenClError.SUCCESS) {
            return ClCall.EVENT_INFO.failure(asked);
        }
        int status = cells.getInt(STATUS);
        return status == OpenCl.CL_COMPLETE ? null : step.call.failure(status);
    }

    private long event() {
        return cells.getLong(EVENT);
    }

    /** Returns the host's part: the same, on the mapped range. */
    Request hostPart() {
        if (request.isCopy()) {
            host.copy(request.kind(), request.slot(), request.slotOffset(), request.bytes());
        } else {
            host.file(request.kind(), request.file(), request.fileOffset(), request.bytes());
        }
        Slab backing = memory().span().backing();
        if (backing != null && backing.hostAddress() + request.memoryOffset() == mapped) {
            return host.memory(backing, request.memoryOffset()); // by its slab, since io_uring knows those
        }
        range.set(mapped, request.bytes());
        return host.memory(range, 0);
    }

    private ClMemory memory() {
        return (ClMemory) request.memory();
    }
}
