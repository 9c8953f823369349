// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.staged;

import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.cuda.PeerAccess;
import io.penstock.backend.cufile.device.CudaPoint;
import io.penstock.backend.cufile.device.GpuMemory;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;

/**
 * Copies between pinned staging buffers and a GPU, started on the thread that filled or needs the staging buffer. The
 * staging buffer's event reports the completion of its copy.
 */
final class CudaCopies implements StagingDevice {

    private final CudaContext context;
    private final long spinNanos;

    /**
     * Creates the copies of a context.
     *
     * @param spinNanos how long a copy is polled without pause, if longer than the default
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
    public CpuSet processors() {
        return CpuSet.near(context.gpu().bus());
    }

    @Override
    public DeviceMemory allocateStagingBuffer(long bytes) {
        return PinnedBuffer.Pool.of(context).take(bytes);
    }

    @Override
    public void copy(Request copy) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of(CudaContext.BIND, bound));
            return;
        }
        PinnedBuffer staging = (PinnedBuffer) copy.staging();
        CudaPoint point = (CudaPoint) copy.point();
        long own = own(staging.streams(), copy);
        long stream = point == null ? own : point.stream(own);
        long gpu = copy.memory().nativeHandle() + copy.memoryOffset();
        long host = staging.hostAddress() + copy.stagingOffset();
        int started;
        if (copy.source() instanceof GpuMemory source) {
            started = between(source, copy, gpu, stream);
        } else {
            started = copy.isInward()
                    ? Cuda.cuMemcpyHtoDAsync_v2(gpu, host, copy.bytes(), stream)
                    : Cuda.cuMemcpyDtoHAsync_v2(host, gpu, copy.bytes(), stream);
        }
        if (started != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of(call(copy), started));
            return;
        }
        int marked = CopyStreams.mark(staging.event(), stream);
        if (marked != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of("cuEventRecord", marked));
        } else if (point != null) {
            point.join(staging.event());
        }
    }

    private static long own(CopyStreams streams, Request copy) {
        if (copy.source() != null) {
            return streams.between();
        }
        return copy.isInward() ? streams.toGpu() : streams.fromGpu();
    }

    private int between(GpuMemory source, Request copy, long to, long stream) {
        long from = source.nativeHandle() + copy.sourceOffset();
        CudaContext other = source.span().context();
        if (other == context) {
            return Cuda.cuMemcpyAsync(to, from, copy.bytes(), stream);
        }
        PeerAccess.of(context).enable(other);
        return Cuda.cuMemcpyPeerAsync(to, context.handle(), from, other.handle(), copy.bytes(), stream);
    }

    private static String call(Request copy) {
        if (copy.source() != null) {
            return "copy between buffers";
        }
        return copy.isInward() ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync";
    }

    @Override
    public void poll(Request copy) {
        query(copy);
    }

    /** As {@link #poll}; returns true if the copy has completed. */
    private boolean query(Request copy) {
        int bound = context.bind();
        if (bound != CudaError.SUCCESS) {
            copy.fail(CudaFailure.of(CudaContext.BIND, bound));
            return true;
        }
        long event = ((PinnedBuffer) copy.staging()).event();
        int state = Cuda.cuEventQuery(event);
        if (state == CudaError.NOT_READY) {
            return false;
        }
        if (state == CudaError.SUCCESS) {
            copy.complete(copy.bytes());
            return true;
        }
        if (CudaFailure.foreignCause(state).isEmpty()) {
            // The query failed, not the copy, which may still run: staging buffer and memory must not
            // be released before.
            Cuda.cuEventSynchronize(event);
        }
        copy.fail(CudaFailure.of("cuEventQuery", state));
        return true;
    }

    @Override
    public void await(Request copy, long nanos) {
        // Not cuEventSynchronize, which blocks forever behind a kernel that never ends.
        Pause pause = ((PinnedBuffer) copy.staging()).pause();
        pause.spinFor(spinNanos);
        long start = System.nanoTime();
        boolean ended = query(copy);
        while (!ended && System.nanoTime() - start < nanos) {
            pause.idle();
            ended = query(copy);
        }
    }
}
