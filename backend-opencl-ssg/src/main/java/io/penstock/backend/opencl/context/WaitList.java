// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import io.penstock.DeviceFence;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The events that the commands of one transfer wait for on the device: an array in native memory, and a reference on
 * each.
 *
 * <p><b>Threading:</b> filled before the I/O queue gets the transfer, then the I/O queue's; freed when the transfer is
 * over.
 */
public final class WaitList {

    private static final int MOST = 16;

    private final WaitBudget budget;
    private final long commands;
    private final long bytes;
    private final ByteBuffer events =
            ByteBuffer.allocateDirect(MOST * Long.BYTES).order(ByteOrder.nativeOrder());
    private final List<DeviceFence> fences = new ArrayList<>(1); // of these events
    private int count;

    /** Takes over the transfer's share of a budget. */
    WaitList(WaitBudget budget, long commands, long bytes) {
        this.budget = budget;
        this.commands = commands;
        this.bytes = bytes;
    }

    /** Adds a fence, and takes over a reference on its event; returns false if there is no room for it. */
    boolean add(DeviceFence fence) {
        if (count == MOST) {
            return false;
        }
        fences.add(fence);
        events.putLong(count++ * Long.BYTES, fence.nativeHandle());
        return true;
    }

    /**
     * Returns true if all are signalled, as observed by the host: the event of a transfer may have failed, together
     * with a fence that it waits for, while the transfer continues.
     */
    public boolean isSignalled() {
        return fences.stream().allMatch(DeviceFence::isSignalled);
    }

    public int count() {
        return count;
    }

    /** Returns the address of the array. */
    public long address() {
        return NativeMemory.address(events);
    }

    void free() {
        for (int i = 0; i < count; i++) {
            OpenCl.clReleaseEvent(events.getLong(i * Long.BYTES));
        }
        count = 0;
        budget.give(commands, bytes);
    }
}
