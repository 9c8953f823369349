// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.device;

import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.LateWord;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.FencePoint;
import org.jspecify.annotations.Nullable;

/**
 * The place of a transfer in the order of a context: the application's stream that its copies go to, or an event behind
 * copies on several internal streams.
 *
 * <p>Copies join by the event recorded behind each. A separate stream waits for all of these events, and the point's
 * event is recorded there.
 */
public final class CudaPoint implements FencePoint {

    /** Why every path except cuFile's stream calls refuses a late-bound size. */
    public static final String ONLY_BY_STREAMS =
            "only cuFile's stream calls (" + CufileOptions.PATH + "=stream) take a late-bound size";

    private final CudaContext context;
    private final long target;
    private final boolean exposed;

    // Guarded by this.
    private @Nullable LateWord size; // until an operation has taken it
    private long gathering;
    private boolean broken; // a copy could not join, so the event is not valid
    private boolean used; // counted as a user of the context

    private volatile long event;

    /**
     * Creates a point; makes no native call.
     *
     * @param target the application's stream, or 0
     * @param exposed whether the point needs an event
     * @param size the size for its one operation
     */
    CudaPoint(CudaContext context, long target, boolean exposed, @Nullable LateWord size) {
        this.size = size;
        this.context = context;
        this.target = target;
        this.exposed = exposed;
    }

    /** Returns the stream that a copy goes to. */
    public long stream(long own) {
        return target == 0 ? own : target;
    }

    /**
     * Returns the word that holds the size of the transfer's first operation; null if the request holds it, as it does
     * once that operation was sized.
     */
    public synchronized @Nullable LateWord takeSize() {
        LateWord taken = size;
        size = null;
        return taken;
    }

    /** Places the point behind a recorded event; the context must be current. */
    public synchronized void join(long recorded) {
        if (!exposed || target != 0) {
            return; // the application's stream itself is the order
        }
        use();
        if (gathering == 0) {
            gathering = OrderStreams.of(context).take();
        }
        // The wait captures the event's current state: the copy's owner may record it again.
        broken |= gathering == 0 || Cuda.cuStreamWaitEvent(gathering, recorded, 0) != CudaError.SUCCESS;
    }

    private void use() {
        if (!used) {
            used = true;
            context.join();
        }
    }

    @Override
    public void place(Runnable placed) {
        if (exposed) { // on the I/O queue's thread, or a thread that finds the I/O queue broken
            context.attempt(() -> {
                record();
                return CudaError.SUCCESS;
            });
        }
        placed.run();
    }

    private synchronized void record() {
        use();
        long[] made = new long[1];
        if (broken || Cuda.cuEventCreate(made, Cuda.CU_EVENT_DISABLE_TIMING) != CudaError.SUCCESS) {
            return;
        }
        long behind = target != 0 ? target : gathering;
        // An event that was never recorded counts as signalled, which is correct if nothing has joined.
        if (behind != 0 && Cuda.cuEventRecord(made[0], behind) != CudaError.SUCCESS) {
            Cuda.cuEventDestroy_v2(made[0]);
            return;
        }
        event = made[0];
    }

    @Override
    public long nativeHandle() {
        return event;
    }

    @Override
    public void free() {
        synchronized (this) {
            if (!used) {
                return;
            }
            used = false;
        }
        long signalled = event;
        if (signalled != 0) {
            context.attempt(() -> Cuda.cuEventDestroy_v2(signalled));
        }
        if (gathering != 0) {
            OrderStreams.of(context).give(gathering);
        }
        context.leave();
    }
}
