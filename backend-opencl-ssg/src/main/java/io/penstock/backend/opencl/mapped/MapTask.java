// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.mapped;

import io.penstock.backend.opencl.cl.ClCall;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A request of a {@link MapQueue}, one object per tag: a range of a buffer that is mapped, read or written by the host,
 * and unmapped.
 *
 * <p><b>Threading:</b> the I/O queue's thread; {@link MapTurns} compares the ranges of all tasks, under its lock, while
 * they hold or wait for one.
 */
final class MapTask implements Request.Completion {

    /** The state of a task. */
    enum Step {
        /** Another task has mapped a part of its range. */
        TURN(ClCall.MAP_BUFFER),
        MAP(ClCall.MAP_BUFFER),
        /** In the host queue. */
        HOST(ClCall.COPY),
        UNMAP(ClCall.UNMAP),
        /** To be reported. */
        END(ClCall.COPY);

        final ClCall call;

        Step(ClCall call) {
            this.call = call;
        }
    }

    /** Continues tasks; implemented by their {@link MapQueue}. */
    interface Owner {

        /** Continues a task whose range another one, possibly of another I/O queue, has released; any thread. */
        void turnReached(MapTask task);

        /** Continues a task whose host part has completed. */
        void hostEnded(MapTask task);
    }

    /** A range of an application's buffer, at its mapped address; unmapped by its task. */
    private final class Range implements DeviceMemory {

        @Override
        public long bytes() {
            return request.bytes();
        }

        @Override
        public long nativeHandle() {
            return mapped;
        }

        @Override
        public long hostAddress() {
            return mapped;
        }

        @Override
        public void free() {}
    }

    private static final int EVENT = 0;
    private static final int STATUS = 8;
    private static final int ERROR = 12;
    private static final int CELL_BYTES = 16;

    final Request request;
    final Request host; // the request for the host queue
    private final Owner owner;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long cellAddress = NativeMemory.address(cells);
    private final Range range = new Range();

    Step step = Step.END;

    /** The bytes moved. */
    long moved;

    /** Why it failed; null if it has not. */
    @Nullable
    NativeFailure failure;

    /** True if the task is to be abandoned at the next step. */
    boolean cancelled;

    private @Nullable Runnable inOrder;
    private long mapped; // the address

    MapTask(Request request, Owner owner) {
        this.request = request;
        this.host = new Request(request.tag(), this);
        this.owner = owner;
    }

    /** Starts the request that the tag now holds. */
    void begin() {
        inOrder = request.inOrder();
        moved = 0;
        failure = null;
        cancelled = false;
    }

    /** Returns true if it maps its range; otherwise the host queue executes the whole request. */
    boolean maps() {
        return request.kind() != Request.Kind.SYNC && request.memory() instanceof ClMemory;
    }

    /** Completes the request. */
    void report() {
        host.clear();
        inOrder = null;
        request.end(moved, failure);
    }

    @Override
    public void ended(Request hostPart, long bytes, @Nullable NativeFailure cause) {
        moved = bytes;
        failure = cause;
        owner.hostEnded(this);
    }

    /** Returns true if it overlaps another task's range. */
    boolean overlaps(MapTask other) {
        long from = request.memoryOffset();
        long otherFrom = other.request.memoryOffset();
        return memory().nativeHandle() == other.memory().nativeHandle()
                && from < otherFrom + other.request.bytes()
                && otherFrom < from + request.bytes();
    }

    void turnReached() {
        owner.turnReached(this);
    }

    /**
     * Enqueues the map of the range; {@link #isSettled} reports its completion.
     *
     * @return an error code
     */
    int map(long queue) {
        // Not INVALIDATE_REGION, which may leave undefined bytes where the file ends early (rule 206).
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

    /** Enqueues the unmap of the range, and places the transfer's point behind it; returns as {@link #map}. */
    int unmap(long queue) {
        int unmapped =
                OpenCl.clEnqueueUnmapMemObject(queue, memory().nativeHandle(), mapped, 0, 0, cellAddress + EVENT);
        ClPoint point = (ClPoint) request.point();
        if (unmapped == OpenClError.SUCCESS && point != null) {
            point.join(event());
        }
        return unmapped;
    }

    /** Returns true if a callback waits for the request to be stream-ordered. */
    boolean isAwaited() {
        return inOrder != null;
    }

    /** Runs that callback, once: the unmap has been flushed. */
    void markStreamOrdered() {
        if (inOrder != null) {
            inOrder.run();
            inOrder = null;
        }
    }

    /** Returns true if the map or unmap in flight has completed; {@link #stepFailure} returns its failure. */
    boolean isSettled() {
        int result = OpenCl.clGetEventInfo(
                event(), OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, cellAddress + STATUS, 0);
        if (result == OpenClError.SUCCESS && cells.getInt(STATUS) > OpenCl.CL_COMPLETE) {
            return false;
        }
        if (result != OpenClError.SUCCESS) {
            ClCall.awaitEnd(result, cellAddress + EVENT);
        }
        OpenCl.clReleaseEvent(event());
        cells.putInt(ERROR, result);
        return true;
    }

    /** Returns why the completed map or unmap failed; null if it succeeded. */
    @Nullable
    NativeFailure stepFailure() {
        int result = cells.getInt(ERROR);
        if (result != OpenClError.SUCCESS) {
            return ClCall.EVENT_INFO.failure(result);
        }
        int status = cells.getInt(STATUS);
        return status == OpenCl.CL_COMPLETE ? null : step.call.failure(status);
    }

    private long event() {
        return cells.getLong(EVENT);
    }

    /** Returns the host's part: the same request, on the mapped range. */
    Request hostPart() {
        if (request.isCopy()) {
            host.copy(request.kind(), request.staging(), request.stagingOffset(), request.bytes());
        } else {
            host.file(request.kind(), request.file(), request.fileOffset(), request.bytes());
        }
        Slab backing = memory().span().backing();
        if (backing != null && backing.hostAddress() + request.memoryOffset() == mapped) {
            return host.memory(backing, request.memoryOffset()); // by its slab, since io_uring has slabs registered
        }
        return host.memory(range, 0);
    }

    private ClMemory memory() {
        return (ClMemory) request.memory();
    }
}
