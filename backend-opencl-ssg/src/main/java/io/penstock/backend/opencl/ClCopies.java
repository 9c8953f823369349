// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;

/**
 * Copies between slots and a device, on whichever thread has filled or wants the slot. A ticket is the slot's number.
 */
final class ClCopies implements StagingDevice {

    /** How long a thread stays awake between looks before it naps. */
    private static final long AWAKE_NANOS = 200_000;

    /** The same where the device is the processor, which it needs for itself. */
    private static final long AWAKE_BESIDE_NANOS = 20_000;

    private static final long NAP_NANOS = 20_000;

    private final ClContext context;
    private final LongFunction<ClSlot> slots;
    private final long awakeNanos;

    /**
     * Makes one.
     *
     * @param slots takes one of a size
     * @param spinNanos how long a copy is looked at again and again, if longer than usual
     */
    ClCopies(ClContext context, LongFunction<ClSlot> slots, long spinNanos) {
        this.context = context;
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
    public long copyIn(Command command) {
        return start(command, ClCall.WRITE_BUFFER);
    }

    @Override
    public long copyOut(Command command) {
        return start(command, ClCall.READ_BUFFER);
    }

    private long start(Command command, ClCall call) {
        ClSlot slot = (ClSlot) command.slot();
        ClPoint point = (ClPoint) command.point();
        long queue = point == null ? slot.queue() : point.queue(slot.queue());
        long buffer = command.memory().nativeHandle();
        long host = slot.hostAddress() + command.slotOffset();
        long offset = command.memoryOffset();
        long bytes = command.bytes();
        int started = call == ClCall.WRITE_BUFFER
                ? OpenCl.clEnqueueWriteBuffer(queue, buffer, 0, offset, bytes, host, 0, 0, slot.eventCell())
                : OpenCl.clEnqueueReadBuffer(queue, buffer, 0, offset, bytes, host, 0, 0, slot.eventCell());
        if (started != OpenClError.SUCCESS) {
            return call.failed(started);
        }
        int flushed = OpenCl.clFlush(queue);
        if (flushed != OpenClError.SUCCESS) {
            // The copy may be under way, and slot and memory must not be let go before it has ended.
            OpenCl.clFinish(queue);
            OpenCl.clReleaseEvent(slot.event());
            return ClCall.FLUSH.failed(flushed);
        }
        if (point != null) {
            point.join(slot.event());
        }
        return slot.number();
    }

    @Override
    public long poll(long ticket) {
        ClSlot slot = context.slots().at(ticket);
        int looked = slot.look();
        int status = slot.status();
        if (looked == OpenClError.SUCCESS && status > OpenCl.CL_COMPLETE) {
            return 0;
        }
        OpenCl.clReleaseEvent(slot.event());
        if (looked != OpenClError.SUCCESS) {
            return ClCall.EVENT_INFO.failed(looked);
        }
        return status == OpenCl.CL_COMPLETE ? 1 : ClCall.COPY.failed(status);
    }

    @Override
    public long await(long ticket, long nanos) {
        // Not clWaitForEvents, which waits for ever behind a kernel that never ends.
        long start = System.nanoTime();
        long answer = poll(ticket);
        for (long waited = 0; answer == 0 && waited < nanos; waited = System.nanoTime() - start) {
            if (waited < awakeNanos) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, NAP_NANOS);
            }
            answer = poll(ticket);
        }
        return answer;
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return ClCall.failure(result);
    }
}
