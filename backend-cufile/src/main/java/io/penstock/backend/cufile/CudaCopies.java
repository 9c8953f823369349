// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;
import java.util.concurrent.locks.LockSupport;

/**
 * Copies between pinned slots and a GPU, on whichever thread has filled or wants the slot. A ticket is the slot's
 * event, whose address is never negative.
 */
final class CudaCopies implements StagingDevice {

    /** How long a thread stays awake between looks: with a dozen fillers a slot waits some 400 us for the link. */
    private static final long AWAKE_NANOS = 500_000;

    /** Between looks: they take a lock of the driver's, which those who start copies want too. */
    private static final long LOOK_NANOS = 3_000;

    private static final long NAP_NANOS = 20_000;

    private final CudaContext context;
    private final long spinNanos;

    /**
     * Makes one.
     *
     * @param spinNanos how long a copy is looked at again and again, if longer than usual
     */
    CudaCopies(CudaContext context, long spinNanos) {
        this.context = context;
        this.spinNanos = spinNanos;
    }

    @Override
    public ThreadRule threads() {
        return ThreadRule.MANY;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return context.slots().take(bytes);
    }

    @Override
    public long copyIn(Command command) {
        return start(command, CudaCall.MEMCPY_HTOD);
    }

    @Override
    public long copyOut(Command command) {
        return start(command, CudaCall.MEMCPY_DTOH);
    }

    private long start(Command command, CudaCall call) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            return CudaCall.CTX_SET_CURRENT.failed(bound);
        }
        PinnedSlot slot = (PinnedSlot) command.slot();
        CudaPoint point = (CudaPoint) command.point();
        CopyStreams streams = slot.streams();
        long own = call == CudaCall.MEMCPY_HTOD ? streams.toGpu() : streams.fromGpu();
        long stream = point == null ? own : point.stream(own);
        long gpu = command.memory().nativeHandle() + command.memoryOffset();
        long host = slot.hostAddress() + command.slotOffset();
        int started = call == CudaCall.MEMCPY_HTOD
                ? Cuda.cuMemcpyHtoDAsync_v2(gpu, host, command.bytes(), stream)
                : Cuda.cuMemcpyDtoHAsync_v2(host, gpu, command.bytes(), stream);
        if (started != CudaError.SUCCESS) {
            return call.failed(started);
        }
        int marked = CudaCall.mark(slot.event(), stream);
        if (marked != CudaError.SUCCESS) {
            return CudaCall.EVENT_RECORD.failed(marked);
        }
        if (point != null) {
            point.join(slot.event());
        }
        return slot.event();
    }

    @Override
    public long poll(long ticket) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            return CudaCall.CTX_SET_CURRENT.failed(bound);
        }
        int state = Cuda.cuEventQuery(ticket);
        if (state != CudaError.NOT_READY
                && state != CudaError.SUCCESS
                && CudaFailure.foreignCause(state).isEmpty()) {
            // The answer is the question's, not the copy's, which may run on: slot and memory are not to be let go
            // before.
            Cuda.cuEventSynchronize(ticket);
        }
        return switch (state) {
            case CudaError.SUCCESS -> 1;
            case CudaError.NOT_READY -> 0;
            default -> CudaCall.EVENT_QUERY.failed(state);
        };
    }

    @Override
    public long await(long ticket, long nanos) {
        // Not cuEventSynchronize, which waits for ever behind a kernel that never ends.
        long start = System.nanoTime();
        long answer = poll(ticket);
        for (long waited = 0; answer == 0 && waited < nanos; waited = System.nanoTime() - start) {
            if (waited < spinNanos) {
                Thread.onSpinWait();
            } else if (waited < AWAKE_NANOS) {
                stayAwake(LOOK_NANOS);
            } else {
                LockSupport.parkNanos(this, NAP_NANOS);
            }
            answer = poll(ticket);
        }
        return answer;
    }

    private static void stayAwake(long nanos) {
        long start = System.nanoTime();
        do {
            Thread.onSpinWait();
        } while (System.nanoTime() - start < nanos);
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return CudaCall.failure(result);
    }
}
