// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.sync;

import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.driver.CuFileFailure;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A queue whose operations tell nobody that they have ended, so that the lane looks. Commands wait until there is room
 * for them; what is none of cuFile's way goes to threads that block.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; cuFile is called by the lane alone, the calls of {@link #others} by their
 * threads.
 *
 * <p><b>Cancellation:</b> takes a request back that cuFile does not have; others end by themselves.
 */
public abstract class PolledQueue implements NativeQueue {

    protected final CudaContext context;
    protected final CallQueue others;
    private final ArrayDeque<CallTask> waiting = new ArrayDeque<>();
    private final ArrayDeque<CallTask> ended = new ArrayDeque<>();
    private final PollPause pause = new PollPause();
    private int underWay; // in cuFile's hands

    protected PolledQueue(CudaContext context, CallQueue others) {
        this.context = context;
        this.others = others;
    }

    /** Gives cuFile what waits, as far as there is room; returns whether anything was begun, or has ended. */
    protected abstract boolean startWaiting();

    /**
     * Looks what has ended; something is under way.
     *
     * @param suspicious whether nothing has ended for long
     */
    protected abstract void look(boolean suspicious);

    /** Returns whether cuFile has the operation of a tag. */
    protected abstract boolean isUnderWay(int tag);

    @Override
    public final int depth() {
        return others.depth();
    }

    @Override
    public final void enqueue(Request request) {
        if (CallTask.isOfCuFile(request) && takes(request)) {
            CallTask task = others.task(request);
            task.begin();
            waiting.add(task);
        } else {
            others.enqueue(request);
        }
    }

    /** Returns whether a request of cuFile's goes this way; by a call that blocks otherwise. */
    protected boolean takes(Request request) {
        return true;
    }

    @Override
    public final void cancel(Request request) {
        CallTask task = others.task(request);
        if (waiting.remove(task)) {
            fail(task, CuFileFailure.CANCELLED);
        } else if (!isUnderWay(task.tag)) {
            others.cancel(request);
        }
    }

    @Override
    public final void turn(long waitNanos) {
        boolean begun = startWaiting();
        boolean any = lookAndReport() || begun;
        if (any || waitNanos == 0) {
            pause.reset();
            return;
        }
        others.await(underWay == 0 ? waitNanos : pause.next(waitNanos));
        lookAndReport();
    }

    private boolean lookAndReport() {
        int before = underWay;
        if (before > 0) {
            look(pause.isLongest());
        }
        boolean any = underWay < before; // what came short is in nobody's hands: the next turn has to start the rest
        any |= others.report() > 0;
        for (CallTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            task.report();
        }
        return any;
    }

    /** Returns the request that is next; null if none waits. */
    protected final @Nullable CallTask next() {
        return waiting.peek();
    }

    /** Takes the request that is next, which is under way from now on. */
    protected final CallTask takeNext() {
        underWay++;
        return waiting.remove();
    }

    protected final int underWay() {
        return underWay;
    }

    /** Says that cuFile has let go of an operation. */
    protected final void letGo() {
        underWay--;
    }

    /** Puts the rest of a request in front of those that wait. */
    protected final void again(CallTask task) {
        waiting.addFirst(task);
    }

    /** Ends a request well that cuFile has no more, and of which the last part has moved {@code last} bytes. */
    protected final void end(CallTask task, long last) {
        task.ends(last);
        ended.add(task);
    }

    /** Fails a request that cuFile does not have, or has no more. */
    protected final void fail(CallTask task, NativeFailure cause) {
        task.fails(cause);
        ended.add(task);
    }

    /** Fails all that waits. */
    protected final void failWaiting(NativeFailure cause) {
        for (CallTask task = waiting.poll(); task != null; task = waiting.poll()) {
            fail(task, cause);
        }
    }

    @Override
    public final void wake() {
        others.wake();
    }
}
