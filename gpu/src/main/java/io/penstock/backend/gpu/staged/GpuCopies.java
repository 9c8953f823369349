// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.staged;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.PeerAccess;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.device.GpuPoint;
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
final class GpuCopies implements StagingDevice {

    private final GpuContext context;
    private final DriverApi driver;
    private final long spinNanos;

    /**
     * Creates the copies of a context.
     *
     * @param spinNanos how long a copy is polled without pause, if longer than the default
     */
    GpuCopies(GpuContext context, long spinNanos) {
        this.context = context;
        this.driver = context.driver();
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
        if (bound != DriverApi.SUCCESS) {
            copy.fail(driver.failure(GpuContext.BIND, bound));
            return;
        }
        PinnedBuffer staging = (PinnedBuffer) copy.staging();
        GpuPoint point = (GpuPoint) copy.point();
        long own = own(staging.streams(), copy);
        long stream = point == null ? own : point.stream(own);
        long gpu = copy.memory().nativeHandle() + copy.memoryOffset();
        long host = staging.hostAddress() + copy.stagingOffset();
        int started;
        if (copy.source() instanceof GpuMemory source) {
            started = between(source, copy, gpu, stream);
        } else {
            started = copy.isInward()
                    ? driver.memcpyHtoDAsync(gpu, host, copy.bytes(), stream)
                    : driver.memcpyDtoHAsync(host, gpu, copy.bytes(), stream);
        }
        if (started != DriverApi.SUCCESS) {
            copy.fail(driver.failureOf(call(copy), started));
            return;
        }
        int marked = CopyStreams.mark(driver, staging.event(), stream);
        if (marked != DriverApi.SUCCESS) {
            copy.fail(driver.failure("eventRecord", marked));
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
        GpuContext other = source.span().context();
        if (other == context) {
            return driver.memcpyAsync(to, from, copy.bytes(), stream);
        }
        PeerAccess.of(context).enable(other);
        return driver.memcpyPeerAsync(to, context.handle(), from, other.handle(), copy.bytes(), stream);
    }

    private String call(Request copy) {
        if (copy.source() != null) {
            return "copy between buffers";
        }
        return driver.call(copy.isInward() ? "memcpyHtoDAsync" : "memcpyDtoHAsync");
    }

    @Override
    public void poll(Request copy) {
        query(copy);
    }

    /** As {@link #poll}; returns true if the copy has completed. */
    private boolean query(Request copy) {
        int bound = context.bind();
        if (bound != DriverApi.SUCCESS) {
            copy.fail(driver.failure(GpuContext.BIND, bound));
            return true;
        }
        int state = CopyStreams.state(driver, ((PinnedBuffer) copy.staging()).event());
        if (state == DriverApi.NOT_READY) {
            return false;
        }
        if (state == DriverApi.SUCCESS) {
            copy.complete(copy.bytes());
        } else {
            copy.fail(driver.failure("eventQuery", state));
        }
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
