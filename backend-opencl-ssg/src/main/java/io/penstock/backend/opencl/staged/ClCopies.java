// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.staged;

import io.penstock.backend.opencl.cl.ClCall;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.function.LongFunction;

/** Copies between staging buffers and a device, started on the thread that filled or needs the staging buffer. */
final class ClCopies implements StagingDevice {

    /** How long a thread polls without sleeping. */
    private static final long AWAKE_NANOS = 200_000;

    /** The same where the device is the processor, which needs it for the copy. */
    private static final long AWAKE_BESIDE_NANOS = 20_000;

    private final LongFunction<ClStagingBuffer> stagingBuffers;
    private final long awakeNanos;

    /**
     * Creates the copies of a context.
     *
     * @param stagingBuffers allocates a staging buffer of a size
     * @param spinNanos how long a copy is polled without pause, if longer than the default
     */
    ClCopies(ClContext context, LongFunction<ClStagingBuffer> stagingBuffers, long spinNanos) {
        this.stagingBuffers = stagingBuffers;
        this.awakeNanos = Math.max(spinNanos, context.device().isHardware() ? AWAKE_NANOS : AWAKE_BESIDE_NANOS);
    }

    @Override
    public ThreadRule threads() {
        return ThreadRule.MANY;
    }

    @Override
    public DeviceMemory allocateStagingBuffer(long bytes) {
        return stagingBuffers.apply(bytes);
    }

    @Override
    public void copy(Request copy) {
        ClStagingBuffer staging = (ClStagingBuffer) copy.staging();
        ClPoint point = (ClPoint) copy.point();
        long own = own(staging.queues(), copy);
        long queue = point == null ? own : point.queue(own);
        int started = start(copy, staging, queue);
        if (started != OpenClError.SUCCESS) {
            copy.fail(call(copy).failure(started));
            return;
        }
        int flushed = OpenCl.clFlush(queue);
        if (flushed != OpenClError.SUCCESS) {
            // The copy may be in flight: staging buffer and memory must not be released before it has completed.
            OpenCl.clFinish(queue);
            OpenCl.clReleaseEvent(staging.event());
            copy.fail(ClCall.FLUSH.failure(flushed));
        } else if (point != null) {
            point.join(staging.event());
        }
    }

    private static int start(Request copy, ClStagingBuffer staging, long queue) {
        long buffer = copy.memory().nativeHandle();
        long host = staging.hostAddress() + copy.stagingOffset();
        long offset = copy.memoryOffset();
        long bytes = copy.bytes();
        long event = staging.eventCell();
        if (copy.source() instanceof ClMemory source) {
            long from = source.nativeHandle();
            return OpenCl.clEnqueueCopyBuffer(queue, from, buffer, copy.sourceOffset(), offset, bytes, 0, 0, event);
        }
        return copy.isInward()
                ? OpenCl.clEnqueueWriteBuffer(queue, buffer, 0, offset, bytes, host, 0, 0, event)
                : OpenCl.clEnqueueReadBuffer(queue, buffer, 0, offset, bytes, host, 0, 0, event);
    }

    private static long own(CopyQueues queues, Request copy) {
        if (copy.source() != null) {
            return queues.between();
        }
        return copy.isInward() ? queues.toDevice() : queues.fromDevice();
    }

    private static ClCall call(Request copy) {
        if (copy.source() != null) {
            return ClCall.COPY_BUFFER;
        }
        return copy.isInward() ? ClCall.WRITE_BUFFER : ClCall.READ_BUFFER;
    }

    @Override
    public void poll(Request copy) {
        query(copy);
    }

    /** As {@link #poll}; returns true if the copy has completed. */
    private static boolean query(Request copy) {
        ClStagingBuffer staging = (ClStagingBuffer) copy.staging();
        int result = staging.query();
        int status = staging.status();
        if (result == OpenClError.SUCCESS && status > OpenCl.CL_COMPLETE) {
            return false;
        }
        if (result != OpenClError.SUCCESS) {
            ClCall.awaitEnd(result, staging.eventCell());
        }
        OpenCl.clReleaseEvent(staging.event());
        if (result != OpenClError.SUCCESS) {
            copy.fail(ClCall.EVENT_INFO.failure(result));
        } else if (status != OpenCl.CL_COMPLETE) {
            copy.fail(ClCall.COPY.failure(status));
        } else {
            copy.complete(copy.bytes());
        }
        return true;
    }

    @Override
    public void await(Request copy, long nanos) {
        // Not clWaitForEvents, which blocks forever behind a kernel that never ends.
        Pause pause = ((ClStagingBuffer) copy.staging()).pause();
        pause.spinFor(awakeNanos);
        long start = System.nanoTime();
        boolean ended = query(copy);
        while (!ended && System.nanoTime() - start < nanos) {
            pause.idle();
            ended = query(copy);
        }
    }
}
