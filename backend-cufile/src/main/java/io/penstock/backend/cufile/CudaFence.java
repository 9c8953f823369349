// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.fence.EventWatch;
import io.penstock.engine.fence.Watched;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A CUevent as a fence: one of the application's, or one that {@link CudaStream} recorded for it. Signals come on the
 * one thread of the process that looks at such events. A host function in the stream would tell too, but delays the
 * stream by some 20 microseconds, and lives on a thread of the driver's.
 */
final class CudaFence implements DeviceFence, Watched {

    private static final EventWatch WATCH = new EventWatch("penstock-cuda-events");

    private final long context;
    private final long event;
    private final boolean owned;
    private final long spinNanos;
    private final Sinks.Empty<Void> passed = Sinks.empty();

    // Guarded by this.
    private boolean watched;
    private boolean closed;
    private int state = CudaError.NOT_READY; // until it is known to be passed

    /**
     * Wraps an event that has been recorded.
     *
     * @param context its handle
     * @param owned whether the event goes with this
     * @param spinNanos how long it is looked at again and again once somebody waits, if longer than usual
     */
    CudaFence(long context, long event, boolean owned, long spinNanos) {
        this.context = context;
        this.spinNanos = spinNanos;
        this.event = event;
        this.owned = owned;
    }

    @Override
    public long spinNanos() {
        return spinNanos;
    }

    @Override
    public boolean isSignalled() {
        return state() != CudaError.NOT_READY;
    }

    /** Returns what the driver says of it; not asked again once it is passed, when the application may destroy it. */
    private synchronized int state() {
        if (state == CudaError.NOT_READY && !(closed && owned && !watched)) {
            state = CudaScope.in(context, () -> Cuda.cuEventQuery(event));
        }
        return state;
    }

    @Override
    public Mono<Void> signalled() {
        return Mono.defer(() -> {
            if (isSignalled()) {
                return Mono.empty();
            }
            watch();
            return passed.asMono();
        });
    }

    private void watch() {
        synchronized (this) {
            if (watched) {
                return;
            }
            watched = true;
        }
        WATCH.watch(this);
    }

    @Override
    public boolean look() {
        int bound = Cuda.cuCtxSetCurrent(context); // and stays so: the thread of the watch is nobody else's
        int answer = bound == CudaError.SUCCESS ? Cuda.cuEventQuery(event) : bound;
        if (answer == CudaError.NOT_READY) {
            return false;
        }
        passed(answer);
        return true;
    }

    /** Hears that the device has passed it, or that its context is gone. */
    private void passed(int answer) {
        boolean destroy;
        synchronized (this) {
            state = answer;
            watched = false;
            destroy = closed && owned;
        }
        if (destroy) {
            CudaScope.in(context, () -> Cuda.cuEventDestroy_v2(event));
        }
        passed.tryEmitEmpty();
    }

    /** {@inheritDoc} What the application brought has no transfer; a context that is lost fails here. */
    @Override
    public Mono<Completion> outcome() {
        return signalled().then(Mono.defer(() -> {
            int answer = state();
            return answer == CudaError.SUCCESS
                    ? Mono.empty()
                    : Mono.error(CudaFailure.exception("a wait for a CUevent", "cuEventQuery", answer));
        }));
    }

    @Override
    public long nativeHandle() {
        return event;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (!owned || watched) {
                return; // the application's, or passed() destroys it
            }
        }
        CudaScope.in(context, () -> Cuda.cuEventDestroy_v2(event));
    }

    @Override
    public String toString() {
        return "CUevent 0x" + Long.toHexString(event);
    }
}
