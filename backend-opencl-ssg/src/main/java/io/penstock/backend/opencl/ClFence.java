// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.DeviceFence;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.fence.EventFence;
import io.penstock.engine.spi.fence.EventWatch;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A cl_event as a fence, on which this holds one reference until it is closed and passed. Signals come on a thread of
 * {@link EventWaiters}, or on the one thread of the process that looks at those which none of them waits for. A callback of
 * the driver's would tell too, but never on PoCL where the command fails, and would keep one of the driver's threads in
 * this JVM for good.
 */
final class ClFence extends EventFence {

    private static final EventWatch WATCH = new EventWatch("penstock-opencl-events");

    private final byte[] cell = new byte[Integer.BYTES];
    private final ByteBuffer status = ByteBuffer.wrap(cell).order(ByteOrder.nativeOrder());

    /** Takes over one reference. */
    ClFence(long event) {
        super(event, true);
    }

    @Override
    protected int ask() {
        int asked = OpenCl.clGetEventInfo(
                nativeHandle(), OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, cell, null);
        int answer = asked == OpenClError.SUCCESS ? status.getInt(0) : asked;
        return answer > OpenCl.CL_COMPLETE ? PENDING : answer;
    }

    /** Takes a reference on the event, as long as this has one. */
    boolean retain() {
        return whileHeld(() -> OpenCl.clRetainEvent(nativeHandle()) == OpenClError.SUCCESS);
    }

    @Override
    protected void watch() {
        if (!EventWaiters.take(this)) {
            WATCH.watch(this);
        }
    }

    /** Blocks until it is passed, and hears so. */
    void await() {
        ByteBuffer list = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        list.putLong(0, nativeHandle());
        try {
            OpenCl.clWaitForEvents(1, NativeMemory.address(list)); // what it answers, the event's status answers too
        } finally {
            Reference.reachabilityFence(list);
        }
        if (!look()) {
            WATCH.watch(this); // the wait was refused: only looking is left
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
     * Returns the cl_events of fences, one behind the other, in native memory.
     *
     * @throws IllegalArgumentException if one has none
     */
    static ByteBuffer events(DeviceFence... fences) {
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
