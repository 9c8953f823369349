// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A queue whose operations do not notify on completion, so that the I/O queue polls. Requests wait until there is room
 * for them; calls that the file API cannot do go to blocking threads.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; only the I/O queue calls the file API here, and the threads of {@link #others}
 * make its calls.
 *
 * <p><b>Cancellation:</b> removes a request that the file API does not have; others run to completion.
 */
public abstract class PolledQueue implements NativeQueue {

    protected final GpuContext context;
    protected final DriverApi driver;
    protected final FileApi files;
    protected final CallQueue others;
    private final ArrayDeque<CallTask> waiting = new ArrayDeque<>();
    private final ArrayDeque<CallTask> ended = new ArrayDeque<>();
    private final Pause pause = Pause.betweenPolls(); // between polls
    private int inFlight; // held by the file API

    protected PolledQueue(GpuContext context, CallQueue others) {
        this.context = context;
        this.files = others.files();
        this.driver = files.driver();
        this.others = others;
    }

    /**
     * Submits waiting requests, as far as there is room; returns true if any was started, or has completed.
     */
    protected abstract boolean startWaiting();

    /**
     * Polls for completions; at least one operation is in flight.
     *
     * @param suspicious true if nothing has completed for long
     */
    protected abstract void poll(boolean suspicious);

    /** Returns true if the file API has the operation of a tag. */
    protected abstract boolean isInFlight(int tag);

    @Override
    public final int depth() {
        return others.depth();
    }

    @Override
    public final void enqueue(Request request) {
        if (CallTask.isOfFileApi(request) && takes(request)) {
            CallTask task = others.task(request);
            task.begin();
            task.asksOnly = task.mustAsk(leavesHoles());
            if (task.asksOnly) {
                others.begin(task); // which comes back to those that wait
            } else {
                waiting.add(task);
            }
        } else {
            others.enqueue(request);
        }
    }

    /** Returns true if reads leave the bytes of a file's holes unwritten. */
    protected boolean leavesHoles() {
        return false;
    }

    /** Returns true if a request of the file API goes to this queue, false if it goes to a blocking call. */
    protected boolean takes(Request request) {
        return true;
    }

    @Override
    public final void cancel(Request request) {
        CallTask task = others.task(request);
        if (waiting.remove(task)) {
            fail(task, FileApi.CANCELLED);
        } else if (!isInFlight(task.tag)) {
            task.cancelled = task.asksOnly;
            others.cancel(request);
        }
    }

    @Override
    public final void turn(long waitNanos) {
        boolean begun = startWaiting();
        boolean any = pollAndReport() || begun;
        if (any || waitNanos == 0) {
            pause.reset();
            return;
        }
        others.await(inFlight == 0 ? waitNanos : pause.next(waitNanos));
        if (pollAndReport()) {
            pause.reset();
        }
    }

    private boolean pollAndReport() {
        int before = inFlight;
        if (before > 0) {
            poll(pause.isLongest());
        }
        boolean any = inFlight < before; // after a short count the next turn starts the rest
        any |= others.report(waiting) > 0;
        for (CallTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            task.report();
        }
        return any;
    }

    /** Returns the next request; null if none waits. */
    protected final @Nullable CallTask next() {
        return waiting.peek();
    }

    /** Removes the next request, which counts as in flight from now on. */
    protected final CallTask takeNext() {
        inFlight++;
        return waiting.remove();
    }

    protected final int inFlight() {
        return inFlight;
    }

    /** Counts an operation that the file API has released. */
    protected final void countReleased() {
        inFlight--;
    }

    /** Puts the rest of a request in front of the waiting ones. */
    protected final void again(CallTask task) {
        waiting.addFirst(task);
    }

    /** Completes a request that the file API no longer has; its last part moved {@code last} bytes. */
    protected final void end(CallTask task, long last) {
        task.ends(last);
        ended.add(task);
    }

    /** Fails a request that the file API does not have, or no longer has. */
    protected final void fail(CallTask task, NativeFailure cause) {
        task.fails(cause);
        ended.add(task);
    }

    /** Fails all waiting requests. */
    protected final void failWaiting(NativeFailure cause) {
        for (CallTask task = waiting.poll(); task != null; task = waiting.poll()) {
            fail(task, cause);
        }
    }

    @Override
    public final Wakeup wakeup() {
        return others.wakeup();
    }
}
