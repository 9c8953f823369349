// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.fence.EventWatch;
import io.penstock.engine.fence.Watched;
import io.penstock.engine.ffi.NativeMemory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A cl_event as a fence, on which this holds one reference until it is closed and known to be passed. Signals come on a
 * thread of {@link EventWaiters}, or on the one thread of the process that looks at those which none of them waits for. A
 * callback of the driver's would tell too, but never on PoCL where the command fails, and would keep one of the driver's
 * threads in this JVM for good.
 */
final class ClFence implements DeviceFence, Watched {

    private static final EventWatch WATCH = new EventWatch("penstock-opencl-events");

    private final long event;
    private final Sinks.Empty<Void> passed = Sinks.empty();
    private final byte[] cell = new byte[Integer.BYTES];
    private final ByteBuffer status = ByteBuffer.wrap(cell).order(ByteOrder.nativeOrder());

    // Guarded by this.
    private boolean watched;
    private boolean closed;
    private int state = OpenCl.CL_QUEUED; // until it is known to be passed

    /** Takes over one reference. */
    ClFence(long event) {
        this.event = event;
    }

    @Override
    public boolean isSignalled() {
        return state() <= OpenCl.CL_COMPLETE;
    }

    /** Returns what the driver says of it; not asked again once it is passed. */
    synchronized int state() {
        if (state > OpenCl.CL_COMPLETE && (!closed || watched)) {
            int asked =
                    OpenCl.clGetEventInfo(event, OpenCl.CL_EVENT_COMMAND_EXECUTION_STATUS, Integer.BYTES, cell, null);
            state = asked == OpenClError.SUCCESS ? status.getInt(0) : asked;
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

    /** Takes a reference on the event, as long as this has one. */
    synchronized boolean retain() {
        return (!closed || watched) && OpenCl.clRetainEvent(event) == OpenClError.SUCCESS;
    }

    private void watch() {
        synchronized (this) {
            if (watched || closed) {
                return;
            }
            watched = true;
        }
        if (!EventWaiters.take(this)) {
            WATCH.watch(this);
        }
    }

    /** Blocks until it is passed, and hears so. */
    void await() {
        ByteBuffer list = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
        list.putLong(0, event);
        try {
            OpenCl.clWaitForEvents(1, NativeMemory.address(list)); // what it answers, the event's status answers too
        } finally {
            Reference.reachabilityFence(list);
        }
        if (isSignalled()) {
            passed();
        } else {
            WATCH.watch(this); // the wait was refused: only looking is left
        }
    }

    @Override
    public boolean look() {
        if (!isSignalled()) {
            return false;
        }
        passed();
        return true;
    }

    /** Hears that it is passed. */
    private void passed() {
        boolean release;
        synchronized (this) {
            watched = false;
            release = closed;
        }
        if (release) {
            OpenCl.clReleaseEvent(event);
        }
        passed.tryEmitEmpty();
    }

    /** {@inheritDoc} What the application brought has no transfer; a command that has failed fails here. */
    @Override
    public Mono<Completion> outcome() {
        return signalled().then(Mono.defer(() -> {
            int status = state();
            return status == OpenCl.CL_COMPLETE
                    ? Mono.empty()
                    : Mono.error(OpenClFailure.exception("a wait for a cl_event", "the command", status));
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
            if (watched) {
                return; // passed() releases it
            }
        }
        OpenCl.clReleaseEvent(event);
    }

    @Override
    public String toString() {
        return "cl_event 0x" + Long.toHexString(event);
    }
}
