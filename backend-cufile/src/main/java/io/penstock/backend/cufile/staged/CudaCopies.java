// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.device.CudaPoint;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.concurrent.locks.LockSupport;

/**
 * Copies between pinned slots and a GPU, on whichever thread has filled or wants the slot. The slot's event tells when
 * its copy has ended.
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
        return PinnedSlots.of(context).take(bytes);
    }

    @Override
    public void copy(Request copy) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of(CudaContext.BIND, bound));
            return;
        }
        PinnedSlot slot = (PinnedSlot) copy.slot();
        CudaPoint point = (CudaPoint) copy.point();
        CopyStreams streams = slot.streams();
        boolean in = copy.isInward();
        long own = in ? streams.toGpu() : streams.fromGpu();
        long stream = point == null ? own : point.stream(own);
        long gpu = copy.memory().nativeHandle() + copy.memoryOffset();
        long host = slot.hostAddress() + copy.slotOffset();
        int started = in
                ? Cuda.cuMemcpyHtoDAsync_v2(gpu, host, copy.bytes(), stream)
                : Cuda.cuMemcpyDtoHAsync_v2(host, gpu, copy.bytes(), stream);
        if (started != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of(in ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync", started));
            return;
        }
        int marked = CopyStreams.mark(slot.event(), stream);
        if (marked != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of("cuEventRecord", marked));
        } else if (point != null) {
            point.join(slot.event());
        }
    }

    @Override
    public void poll(Request copy) {
        look(copy);
    }

    /** As {@link #poll}; returns whether the copy has ended. */
    private boolean look(Request copy) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of(CudaContext.BIND, bound));
            return true;
        }
        long event = ((PinnedSlot) copy.slot()).event();
        int state = Cuda.cuEventQuery(event);
        if (state == CudaError.NOT_READY) {
            return false;
        }
        if (state == CudaError.SUCCESS) {
            copy.complete(copy.bytes());
            return true;
        }
        if (CudaFailure.foreignCause(state).isEmpty()) {
            // The answer is the question's, not the copy's, which may run on: slot and memory are not to be let go
            // before.
            Cuda.cuEventSynchronize(event);
        }
        copy.fail(CudaFailure.of("cuEventQuery", state));
        return true;
    }

    @Override
    public void await(Request copy, long nanos) {
        // Not cuEventSynchronize, which waits for ever behind a kernel that never ends.
        long start = System.nanoTime();
        boolean ended = look(copy);
        for (long waited = 0; !ended && waited < nanos; waited = System.nanoTime() - start) {
            if (waited < spinNanos) {
                Thread.onSpinWait();
            } else if (waited < AWAKE_NANOS) {
                stayAwake(LOOK_NANOS);
            } else {
                LockSupport.parkNanos(this, NAP_NANOS);
            }
            ended = look(copy);
        }
    }

    private static void stayAwake(long nanos) {
        long start = System.nanoTime();
        do {
            Thread.onSpinWait();
        } while (System.nanoTime() - start < nanos);
    }
}
