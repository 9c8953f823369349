// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.DeviceFence;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.fence.EventFence;
import io.penstock.engine.kit.fence.EventWatch;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A cl_event as a fence. Holds one reference until it is closed and signalled. Its completion is detected by a thread
 * of {@link EventWaiters}, or else by the one thread of the process that polls events. A driver callback would also
 * report it, but never on PoCL where the command fails, and would keep a driver thread attached to this JVM
 * permanently.
 */
public final class ClFence extends EventFence {

    private static final EventWatch WATCH = new EventWatch("penstock-opencl-events");

    private final byte[] cell = new byte[Integer.BYTES];
    private final ByteBuffer status = ByteBuffer.wrap(cell).order(ByteOrder.nativeOrder());

    /** Takes over one reference. */
    public ClFence(long event) {
        super(event, true);
    }

    @Override
    protected int query() {
        int result = OpenCl.clGetEventInfo(
                nativeHandle(), OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, cell, null);
        int answer = result == OpenClError.SUCCESS ? status.getInt(0) : result;
        return answer > OpenCl.CL_COMPLETE ? PENDING : answer;
    }

    /** Retains the event for another holder, while this fence still has its reference. */
    public boolean retain() {
        return whileHeld(() -> OpenCl.clRetainEvent(nativeHandle()) == OpenClError.SUCCESS);
    }

    @Override
    protected void watch() {
        if (!EventWaiters.take(nativeHandle(), this::await)) {
            WATCH.watch(this);
        }
    }

    /** Blocks until the event is signalled, and reports it. */
    private void await() {
        ByteBuffer list = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        list.putLong(0, nativeHandle());
        try {
            OpenCl.clWaitForEvents(1, NativeMemory.address(list)); // the event's status holds the result too
        } finally {
            Reference.reachabilityFence(list);
        }
        if (!poll()) {
            WATCH.watch(this); // the wait was refused: poll instead
        }
    }

    @Override
    protected void free() {
        OpenCl.clReleaseEvent(nativeHandle());
    }

    @Override
    protected RuntimeException failure(int code) {
        return OpenClFailure.exception("a wait for a cl_event", "the command", code);
    }

    @Override
    public String toString() {
        return "cl_event 0x" + Long.toHexString(nativeHandle());
    }

    /**
     * Returns the cl_events of fences as a contiguous array in native memory.
     *
     * @throws IllegalArgumentException if one has none
     */
    public static ByteBuffer events(DeviceFence... fences) {
        ByteBuffer list = ByteBuffer.allocateDirect(Math.max(1, fences.length) * Long.BYTES)
                .order(ByteOrder.nativeOrder());
        for (int i = 0; i < fences.length; i++) {
            if (fences[i].nativeHandle() == 0) {
                throw new IllegalArgumentException(fences[i] + " has no cl_event: only the host can wait for it");
            }
            list.putLong(i * Long.BYTES, fences[i].nativeHandle());
        }
        return list;
    }
}
