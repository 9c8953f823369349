// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.backend.cufile.CudaStream;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.fence.EventFence;
import io.penstock.engine.spi.fence.EventWatch;

/**
 * A CUevent as a fence: one of the application's, or one that {@link CudaStream} recorded for it. Signals come on the
 * one thread of the process that looks at such events. A host function in the stream would tell too, but delays the
 * stream by some 20 microseconds, and lives on a thread of the driver's.
 */
public final class CudaFence extends EventFence {

    private static final EventWatch WATCH = new EventWatch("penstock-cuda-events");

    private final long context;
    private final long spinNanos;

    /**
     * Wraps an event that has been recorded.
     *
     * @param context its handle
     * @param owned whether the event goes with this
     * @param spinNanos how long it is looked at again and again once somebody waits, if longer than usual
     */
    public CudaFence(long context, long event, boolean owned, long spinNanos) {
        super(event, owned);
        this.context = context;
        this.spinNanos = spinNanos;
    }

    @Override
    protected int ask() {
        return told(CudaContext.in(context, () -> Cuda.cuEventQuery(nativeHandle())));
    }

    /** {@inheritDoc} The context stays current: the thread of the watch is nobody else's. */
    @Override
    protected int askOnWatch() {
        int bound = Cuda.cuCtxSetCurrent(context);
        return told(bound == CudaError.SUCCESS ? Cuda.cuEventQuery(nativeHandle()) : bound);
    }

    private static int told(int answer) {
        return answer == CudaError.NOT_READY ? PENDING : answer;
    }

    @Override
    protected void watch() {
        WATCH.watch(this);
    }

    @Override
    public long spinNanos() {
        return spinNanos;
    }

    @Override
    protected void free() {
        CudaContext.in(context, () -> Cuda.cuEventDestroy_v2(nativeHandle()));
    }

    @Override
    protected RuntimeException failure(int code) {
        return CudaFailure.exception("a wait for a CUevent", "cuEventQuery", code);
    }

    @Override
    public String toString() {
        return "CUevent 0x" + Long.toHexString(nativeHandle());
    }
}
