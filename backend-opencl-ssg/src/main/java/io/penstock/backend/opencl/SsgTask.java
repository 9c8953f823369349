// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgCommand;
import io.penstock.engine.spi.ssg.SsgFile;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request of the engine's as a chain of commands of the device's, each of which waits for the one before by its event.
 * One object per tag of a queue, with native cells of its own.
 */
final class SsgTask extends SsgCommand<SsgFile> {

    private static final int MOST_STEPS = 2;

    private static final int STATUS = MOST_STEPS * Long.BYTES;
    static final int CELL_BYTES = STATUS + Long.BYTES;

    private final ByteBuffer cells;
    private final long address;
    private final ClCall[] calls = new ClCall[MOST_STEPS];
    private int steps;

    @Nullable
    ClPoint point;

    @Nullable
    Runnable inOrder;

    // While it is in the device's hands.
    @Nullable
    SsgObject object;

    @Nullable
    ClSpan ring;

    boolean mapping; // the bytes were moved, and the slot is being mapped
    boolean waitsNoMore; // on the device, since an event that it waited for there has failed

    /**
     * Makes one.
     *
     * @param cells {@link #CELL_BYTES} of its own, in native order
     * @param address of them
     */
    SsgTask(Request request, ByteBuffer cells, long address) {
        super(request);
        this.cells = cells;
        this.address = address;
    }

    @Override
    public void begin() {
        super.begin();
        point = (ClPoint) request().point();
        inOrder = request().inOrder();
        mapping = false;
        waitsNoMore = false;
    }

    /** Returns whether its first step waits for events of others, unless one of these has failed. */
    boolean hasWaitList() {
        return point != null && point.waits() != null && !waitsNoMore && object != null && ring == null;
    }

    /** Returns whether it may be submitted: once an event has failed that it waited for, when all its fences are passed. */
    boolean maySubmit() {
        WaitList waits = waitsNoMore && point != null ? point.waits() : null;
        return waits == null || waits.isPassed();
    }

    /** Returns the event to wait for before the next step, as a count. */
    int waits() {
        return steps == 0 ? 0 : 1;
    }

    /** Returns the address of the event to wait for before the next step. */
    long waitList() {
        return steps == 0 ? 0 : address + (steps - 1L) * Long.BYTES;
    }

    /** Returns the address of the cell for the next step's event. */
    long eventCell() {
        return address + (long) steps * Long.BYTES;
    }

    /** Returns the address of a cell for an error code. */
    long errorCell() {
        return address + STATUS;
    }

    /** Returns what is in that cell. */
    int error() {
        return cells.getInt(STATUS);
    }

    /** Takes the answer to the next step; returns whether it stands in the queue. */
    boolean step(ClCall call, int answer) {
        if (answer != OpenClError.SUCCESS) {
            fails(call.failure(answer));
            return false;
        }
        calls[steps++] = call;
        return true;
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
