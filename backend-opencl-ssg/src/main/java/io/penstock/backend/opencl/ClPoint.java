// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.DeviceFence;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The place of a transfer in the order of a context: a queue of the application's that its copies go to, or an event
 * behind commands that went to many queues of ours.
 *
 * <p>Commands join by their events. What has joined is held in a list; when that is full, a marker takes the place of all
 * in it, so that a long transfer holds few events.
 */
final class ClPoint implements FencePoint {

    private static final int MOST = 64;

    private final ClContext context;
    private final long home;
    private final boolean exposed;

    // Guarded by this.
    private final ByteBuffer events =
            ByteBuffer.allocateDirect((MOST + 1) * Long.BYTES).order(ByteOrder.nativeOrder());
    private int joined;
    private boolean broken; // a command could not join, and the event would lie
    private boolean used; // counted as a user of the context

    private @Nullable WaitList waits; // written before the lane gets the transfer
    private volatile long event;

    /**
     * Makes one; no native call.
     *
     * @param home the application's queue, or 0
     * @param exposed whether there is to be an event
     */
    ClPoint(ClContext context, long home, boolean exposed) {
        this.context = context;
        this.home = home;
        this.exposed = exposed;
    }

    /** Returns the queue that a copy goes to. */
    long queue(long own) {
        return home == 0 ? own : home;
    }

    /**
     * Has the transfer's commands wait for a fence on the device; before the lane gets the transfer.
     *
     * @param awaited the fence, with a reference on its event that this takes over if they will
     * @param budget what the transfer needs room in
     * @param commands of the transfer, at most
     * @param bytes of the transfer
     * @return whether they will
     */
    boolean await(DeviceFence awaited, WaitBudget budget, long commands, long bytes) {
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

    /** Returns what the transfer's commands wait for on the device; null for most. */
    @Nullable
    WaitList waits() {
        return waits;
    }

    /** Puts the point behind a command, by its event. */
    synchronized void join(long command) {
        if (!exposed || home != 0) {
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

    private void use() {
        if (!used) {
            used = true;
            context.join();
        }
    }

    /** Has one marker stand for all that have joined; returns whether it does. */
    private boolean gather() {
        long list = NativeMemory.address(events);
        long cell = list + (long) MOST * Long.BYTES;
        if (context.orderQueue().marker(joined, list, cell) != OpenClError.SUCCESS) {
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
        if (home != 0) {
            event = markHome();
        } else if (joined == 0) {
            event = passed();
        } else if (joined == 1 || gather()) {
            event = events.getLong(0);
            joined = 0; // the reference is the point's now
        }
    }

    private long markHome() {
        long cell = NativeMemory.address(events);
        if (OpenCl.clEnqueueMarkerWithWaitList(home, 0, 0, cell) != OpenClError.SUCCESS) {
            return 0;
        }
        OpenCl.clFlush(home);
        return events.getLong(0);
    }

    /** Returns an event that is passed, where nothing has joined. */
    private long passed() {
        int[] error = new int[1];
        long made = OpenCl.clCreateUserEvent(context.handle(), error);
        if (error[0] != OpenClError.SUCCESS) {
            return 0;
        }
        OpenCl.clSetUserEventStatus(made, OpenCl.CL_COMPLETE);
        return made;
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
