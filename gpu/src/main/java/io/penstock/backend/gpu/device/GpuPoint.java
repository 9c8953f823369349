// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import io.penstock.Transfer;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuStream;
import io.penstock.backend.gpu.context.LateWord;
import io.penstock.engine.spi.FencePoint;
import org.jspecify.annotations.Nullable;

/**
 * The place of a transfer in the order of a context: the application's stream that its copies go to, or an event behind
 * copies on several internal streams.
 *
 * <p>Copies join by the event recorded behind each. A separate stream waits for all of these events, and the point's
 * event is recorded there.
 */
public final class GpuPoint implements FencePoint {

    private final GpuContext context;
    private final DriverApi driver;
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
    GpuPoint(GpuContext context, long target, boolean exposed, @Nullable LateWord size) {
        this.size = size;
        this.context = context;
        this.driver = context.driver();
        this.target = target;
        this.exposed = exposed;
    }

    /** Returns why every path except the file API's stream calls refuses a transfer of a late-bound size. */
    public static String whyNotLate(GpuContext context, Transfer transfer) {
        return GpuStream.Handle.lateSize(transfer) == null
                ? ""
                : "only " + context.files().product() + "'s stream calls ("
                        + context.options().path() + "=stream) take a late-bound size";
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
        broken |= gathering == 0 || driver.streamWaitEvent(gathering, recorded, 0) != DriverApi.SUCCESS;
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
                return DriverApi.SUCCESS;
            });
        }
        placed.run();
    }

    private synchronized void record() {
        use();
        long[] made = new long[1];
        if (broken || driver.eventCreate(made, DriverApi.EVENT_DISABLE_TIMING) != DriverApi.SUCCESS) {
            return;
        }
        long behind = target != 0 ? target : gathering;
        // An event that was never recorded counts as signalled, which is correct if nothing has joined.
        if (behind != 0 && driver.eventRecord(made[0], behind) != DriverApi.SUCCESS) {
            driver.eventDestroy(made[0]);
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
            context.attempt(() -> driver.eventDestroy(signalled));
        }
        if (gathering != 0) {
            OrderStreams.of(context).give(gathering);
        }
        context.leave();
    }
}
