// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.kit.fence.EventFence;
import io.penstock.engine.kit.fence.EventWatch;

/**
 * A CUevent as a fence: imported from the application, or recorded for it by {@code CudaStream}. It is polled on the
 * one thread of the process that watches such events. A host function in the stream would also report it, but delays
 * the stream by some 20 microseconds and runs on a driver thread.
 */
public final class CudaFence extends EventFence {

    private static final EventWatch WATCH = new EventWatch("penstock-cuda-events");

    private final long context;
    private final long spinNanos;

    /**
     * Wraps an event that has been recorded.
     *
     * @param context the handle of its context
     * @param owned whether closing the fence destroys the event
     * @param spinNanos how long the event is polled without pause once a thread waits, if longer than the default
     */
    public CudaFence(long context, long event, boolean owned, long spinNanos) {
        super(event, owned);
        this.context = context;
        this.spinNanos = spinNanos;
    }

    @Override
    protected int query() {
        return state(CudaContext.in(context, () -> Cuda.cuEventQuery(nativeHandle())));
    }

    /** {@inheritDoc} The context stays current: the watch has this thread to itself. */
    @Override
    protected int queryOnWatch() {
        int bound = Cuda.cuCtxSetCurrent(context);
        return state(bound == CudaError.SUCCESS ? Cuda.cuEventQuery(nativeHandle()) : bound);
    }

    private static int state(int answer) {
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
