// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;

/** Copies between slots and a device, on whichever thread has filled or wants the slot. */
final class ClCopies implements StagingDevice {

    /** How long a thread stays awake between looks before it naps. */
    private static final long AWAKE_NANOS = 200_000;

    /** The same where the device is the processor, which it needs for itself. */
    private static final long AWAKE_BESIDE_NANOS = 20_000;

    private static final long NAP_NANOS = 20_000;

    private final LongFunction<ClSlot> slots;
    private final long awakeNanos;

    /**
     * Makes one.
     *
     * @param slots takes one of a size
     * @param spinNanos how long a copy is looked at again and again, if longer than usual
     */
    ClCopies(ClContext context, LongFunction<ClSlot> slots, long spinNanos) {
        this.slots = slots;
        this.awakeNanos = Math.max(spinNanos, context.device().isHardware() ? AWAKE_NANOS : AWAKE_BESIDE_NANOS);
    }

    @Override
    public ThreadRule threads() {
        return ThreadRule.MANY;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return slots.apply(bytes);
    }

    @Override
    public void copy(Request copy) {
        ClSlot slot = (ClSlot) copy.slot();
        ClPoint point = (ClPoint) copy.point();
        long queue = point == null ? slot.queue() : point.queue(slot.queue());
        long buffer = copy.memory().nativeHandle();
        long host = slot.hostAddress() + copy.slotOffset();
        long offset = copy.memoryOffset();
        long bytes = copy.bytes();
        int started = copy.isInward()
                ? OpenCl.clEnqueueWriteBuffer(queue, buffer, 0, offset, bytes, host, 0, 0, slot.eventCell())
                : OpenCl.clEnqueueReadBuffer(queue, buffer, 0, offset, bytes, host, 0, 0, slot.eventCell());
        if (started != OpenClError.SUCCESS) {
            copy.fail((copy.isInward() ? ClCall.WRITE_BUFFER : ClCall.READ_BUFFER).failure(started));
            return;
        }
        int flushed = OpenCl.clFlush(queue);
        if (flushed != OpenClError.SUCCESS) {
            // The copy may be under way, and slot and memory must not be let go before it has ended.
            OpenCl.clFinish(queue);
            OpenCl.clReleaseEvent(slot.event());
            copy.fail(ClCall.FLUSH.failure(flushed));
        } else if (point != null) {
            point.join(slot.event());
        }
    }

    @Override
    public void poll(Request copy) {
        look(copy);
    }

    /** As {@link #poll}; returns whether the copy has ended. */
    private static boolean look(Request copy) {
        ClSlot slot = (ClSlot) copy.slot();
        int looked = slot.look();
        int status = slot.status();
        if (looked == OpenClError.SUCCESS && status > OpenCl.CL_COMPLETE) {
            return false;
        }
        OpenCl.clReleaseEvent(slot.event());
        if (looked != OpenClError.SUCCESS) {
            copy.fail(ClCall.EVENT_INFO.failure(looked));
        } else if (status != OpenCl.CL_COMPLETE) {
            copy.fail(ClCall.COPY.failure(status));
        } else {
            copy.complete(copy.bytes());
        }
        return true;
    }

    @Override
    public void await(Request copy, long nanos) {
        // Not clWaitForEvents, which waits for ever behind a kernel that never ends.
        long start = System.nanoTime();
        boolean ended = look(copy);
        for (long waited = 0; !ended && waited < nanos; waited = System.nanoTime() - start) {
            if (waited < awakeNanos) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, NAP_NANOS);
            }
            ended = look(copy);
        }
    }
}
