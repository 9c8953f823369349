// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import io.penstock.DeviceFence;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.FencePoint;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The place of a transfer in the order of a context: the application's queue that its copies go to, or an event behind
 * commands on several internal queues.
 *
 * <p>Commands join by their events, which are held in a list. When the list is full, one marker replaces all of them,
 * so that a long transfer holds few events.
 */
public final class ClPoint implements FencePoint {

    private static final int MOST = 64;

    private final ClContext context;
    private final long target;
    private final boolean exposed;

    // Guarded by this.
    private final ByteBuffer events =
            ByteBuffer.allocateDirect((MOST + 1) * Long.BYTES).order(ByteOrder.nativeOrder());
    private int joined;
    private boolean broken; // a command could not join, so the event is not valid
    private boolean used; // counted as a user of the context

    private @Nullable WaitList waits; // written before the I/O queue gets the transfer
    private volatile long event;

    /**
     * Creates a point; makes no native call.
     *
     * @param target the application's queue, or 0
     * @param exposed whether the point needs an event
     */
    public ClPoint(ClContext context, long target, boolean exposed) {
        this.context = context;
        this.target = target;
        this.exposed = exposed;
    }

    /** Returns the queue that a copy goes to. */
    public long queue(long own) {
        return target == 0 ? own : target;
    }

    /**
     * Makes the transfer's commands wait for a fence on the device; called before the I/O queue gets the transfer.
     *
     * @param awaited the fence, with a reference on its event that is taken over if this returns true
     * @param budget the budget that the transfer takes from
     * @param commands the most commands of the transfer
     * @param bytes the bytes of the transfer
     * @return true if the commands will wait for the fence
     */
    public boolean await(DeviceFence awaited, WaitBudget budget, long commands, long bytes) {
        WaitList list = waits;
        if (list == null) {
            if (!budget.take(commands, bytes)) {
                return false;
            }
            list = new WaitList(budget, commands, bytes);
            waits = list;
        }
        return list.add(awaited);
    }

    /** Returns the events that the transfer's commands wait for on the device; null for most transfers. */
    @Nullable
    public WaitList waits() {
        return waits;
    }

    /** Places the point behind a command, by its event. */
    public synchronized void join(long command) {
        if (!exposed || target != 0) {
            return; // the application's queue itself is the order
        }
        use();
        if (joined == MOST) {
            broken |= !gather();
        }
        if (!broken && OpenCl.clRetainEvent(command) == OpenClError.SUCCESS) {
            events.putLong(joined++ * Long.BYTES, command);
        } else {
            broken = true;
        }
    }

    /**
     * Places the point behind a user event, for a command that is submitted again where the event that it waits for
     * fails: its own would fail with that.
     *
     * @return the user event, with a reference; 0 if the point needs none
     */
    public synchronized long joinByUserEvent() {
        if (!exposed || target != 0) {
            return 0;
        }
        use();
        long made = userEvent();
        if (made == 0) {
            broken = true;
        } else {
            join(made);
        }
        return made;
    }

    private void use() {
        if (!used) {
            used = true;
            context.join();
        }
    }

    /** Replaces all joined events by one marker; returns true on success. */
    private boolean gather() {
        long list = NativeMemory.address(events);
        long cell = list + (long) MOST * Long.BYTES;
        if (OrderQueue.of(context).marker(joined, list, cell) != OpenClError.SUCCESS) {
            return false;
        }
        release();
        events.putLong(0, events.getLong(MOST * Long.BYTES));
        joined = 1;
        return true;
    }

    private void release() {
        for (int i = 0; i < joined; i++) {
            OpenCl.clReleaseEvent(events.getLong(i * Long.BYTES));
        }
        joined = 0;
    }

    @Override
    public void place(Runnable placed) {
        if (exposed) {
            settle();
        }
        placed.run();
    }

    private synchronized void settle() {
        use();
        if (broken) {
            return;
        }
        if (target != 0) {
            event = markQueue();
        } else if (joined == 0) {
            event = signalledEvent();
        } else if (joined == 1 || gather()) {
            event = events.getLong(0);
            joined = 0; // the point owns the reference now
        }
    }

    private long markQueue() {
        long cell = NativeMemory.address(events);
        if (OpenCl.clEnqueueMarkerWithWaitList(target, 0, 0, cell) != OpenClError.SUCCESS) {
            return 0;
        }
        OpenCl.clFlush(target);
        return events.getLong(0);
    }

    /** Returns an event that is already signalled, for a point that nothing has joined. */
    private long signalledEvent() {
        long made = userEvent();
        if (made != 0) {
            OpenCl.clSetUserEventStatus(made, OpenCl.CL_COMPLETE);
        }
        return made;
    }

    private long userEvent() {
        int[] error = new int[1];
        long made = OpenCl.clCreateUserEvent(context.handle(), error);
        return error[0] == OpenClError.SUCCESS ? made : 0;
    }

    @Override
    public long nativeHandle() {
        return event;
    }

    @Override
    public void free() {
        WaitList list = waits;
        if (list != null) {
            list.free();
        }
        synchronized (this) {
            if (!used) {
                return;
            }
            used = false;
            release();
        }
        if (event != 0) {
            OpenCl.clReleaseEvent(event);
        }
        context.leave();
    }
}
