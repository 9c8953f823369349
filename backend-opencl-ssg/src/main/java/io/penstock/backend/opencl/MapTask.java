// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.host.Slab;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One command of a {@link MapQueue}, filled again and again: a range of a buffer that is mapped, worked on by the host,
 * and unmapped.
 *
 * <p><b>Threading:</b> the lane's; {@link MapTurns} compares the ranges of all, under its lock, while they hold or want one.
 */
final class MapTask {

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

    final int id;
    private final Consumer<MapTask> queue;
    private final ByteBuffer cells = ByteBuffer.allocateDirect(CELL_BYTES).order(ByteOrder.nativeOrder());
    private final long cellAddress = NativeMemory.address(cells);
    private final MappedRange range = new MappedRange();

    Step step = Step.END;

    /** What it came to; negative where it has failed. */
    long result;

    /** Whether it is to be given up at the next step. */
    boolean cancelled;

    private Command.Kind kind = Command.Kind.SYNC;
    private @Nullable NativeFile file;
    private @Nullable ClMemory memory;
    private @Nullable DeviceMemory slot;
    private @Nullable ClPoint point;
    private @Nullable Runnable inOrder;
    private long fileOffset;
    private long memoryOffset;
    private long slotOffset;
    private long bytes;
    private long mapped; // the address

    /**
     * Makes one.
     *
     * @param queue hears, on any thread, that the task's turn has come
     */
    MapTask(int id, Consumer<MapTask> queue) {
        this.id = id;
        this.queue = queue;
    }

    void fill(Command command) {
        kind = command.kind();
        boolean copies = kind == Command.Kind.COPY_IN || kind == Command.Kind.COPY_OUT;
        file = copies ? null : command.file();
        slot = copies ? command.slot() : null;
        memory = (ClMemory) command.memory();
        point = (ClPoint) command.point();
        inOrder = command.inOrder();
        fileOffset = command.fileOffset();
        memoryOffset = command.memoryOffset();
        slotOffset = command.slotOffset();
        bytes = command.bytes();
        result = 0;
        cancelled = false;
    }

    /** Lets go of file and memory. */
    void forget() {
        file = null;
        slot = null;
        memory = null;
        point = null;
        inOrder = null;
    }

    /** Returns whether it works on some of the same bytes. */
    boolean overlaps(MapTask other) {
        return memory().nativeHandle() == other.memory().nativeHandle()
                && memoryOffset < other.memoryOffset + other.bytes
                && other.memoryOffset < memoryOffset + bytes;
    }

    void turnHasCome() {
        queue.accept(this);
    }

    /**
     * Has the range mapped; {@link #isSettled} tells when it is.
     *
     * @return an error code
     */
    int map(long queue) {
        // Not INVALIDATE_REGION, which may bring back anything where the file ends early (rule 206).
        boolean inward = kind == Command.Kind.READ || kind == Command.Kind.COPY_IN;
        mapped = OpenCl.clEnqueueMapBuffer(
                queue,
                memory().nativeHandle(),
                0,
                inward ? OpenCl.CL_MAP_WRITE : OpenCl.CL_MAP_READ,
                memoryOffset,
                bytes,
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
        if (unmapped == OpenClError.SUCCESS && point != null) {
            point.join(event());
        }
        return unmapped;
    }

    /** Returns whether somebody wants to know when the command stands in the device's order. */
    boolean isAwaited() {
        return inOrder != null;
    }

    /** Says that the command stands in the device's order: it is flushed. */
    void standsInOrder() {
        if (inOrder != null) {
            inOrder.run();
            inOrder = null;
        }
    }

    /** Returns whether the map or unmap that is under way has ended; {@link #failure} tells how. */
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

    /** Returns what the map or unmap that has ended came to: 0, or the number of a failure. */
    long failure() {
        int asked = cells.getInt(ERROR);
        if (asked != OpenClError.SUCCESS) {
            return ClCall.EVENT_INFO.failed(asked);
        }
        int status = cells.getInt(STATUS);
        return status == OpenCl.CL_COMPLETE ? 0 : step.call.failed(status);
    }

    private long event() {
        return cells.getLong(EVENT);
    }

    /** Makes {@code command} the host's part: the same, on the mapped range. */
    void hostPart(Command command) {
        if (slot != null) {
            command.copy(kind, slot, slotOffset, bytes);
        } else {
            command.file(kind, file(), fileOffset, bytes);
        }
        Slab backing = memory().span().backing();
        if (backing != null && backing.hostAddress() + memoryOffset == mapped) {
            command.memory(backing, memoryOffset); // by its slab, since io_uring knows those
        } else {
            range.set(mapped, bytes);
            command.memory(range, 0);
        }
    }

    private NativeFile file() {
        return present(file);
    }

    private ClMemory memory() {
        return present(memory);
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this command has no such part");
        }
        return value;
    }
}
