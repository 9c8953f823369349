// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.ssg.SsgErrands;
import io.penstock.engine.spi.staging.Doorbell;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Commands of the extension's, whose events are asked until they are terminal.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; what blocks (syncs, opening a file object anew) runs on threads of Reactor's
 * and comes back.
 *
 * <p><b>Cancellation:</b> takes a request back that the device has not got; others end by themselves, since nothing can be
 * taken out of a command queue.
 */
final class SsgQueue implements NativeQueue {

    private final SsgSession session;
    private final SsgQueues queues;
    private final ByteBuffer cells;
    private final Function<Request, SsgTask> newTask;
    private final ArrayDeque<SsgTask> waiting = new ArrayDeque<>(); // for the device, for fences, or for the ring
    private final List<SsgTask> submitted = new ArrayList<>(); // of them, those of the turn under way
    private final List<SsgTask> inFlight = new ArrayList<>(); // in the order of submission
    private final ArrayDeque<SsgTask> passed = new ArrayDeque<>(); // of them, what the look under way has found
    private final ArrayDeque<SsgTask> repeated = new ArrayDeque<>(); // of these, what is to be submitted once more
    private final ArrayDeque<SsgTask> ended = new ArrayDeque<>();
    private final Doorbell doorbell = new Doorbell();
    private final SsgErrands<SsgTask> errands = new SsgErrands<>(doorbell);
    private final SsgNeeds needs;
    private final LookPause pause = new LookPause();

    SsgQueue(SsgSession session) {
        this.session = session;
        this.queues = new SsgQueues(session);
        this.needs = new SsgNeeds(session.ring(), errands);
        session.join();
        this.cells = ByteBuffer.allocateDirect(depth() * SsgTask.CELL_BYTES);
        long address = NativeMemory.address(cells);
        this.newTask = request -> {
            int offset = request.tag() * SsgTask.CELL_BYTES;
            ByteBuffer own = cells.slice(offset, SsgTask.CELL_BYTES).order(ByteOrder.nativeOrder());
            return new SsgTask(request, own, address + offset);
        };
    }

    @Override
    public int depth() {
        return session.sizes().depth();
    }

    @Override
    public void enqueue(Request request) {
        SsgTask task = task(request);
        task.begin();
        waiting.add(task);
    }

    private SsgTask task(Request request) {
        return request.attachment(SsgTask.class, newTask);
    }

    @Override
    public void cancel(Request request) {
        SsgTask task = task(request);
        if (waiting.remove(task)) {
            task.fails(SsgTask.CANCELLED);
            ended.add(task);
        }
    }

    @Override
    public void turn(long waitNanos) {
        boolean any = advance();
        if (any || waitNanos == 0) {
            pause.reset();
            return;
        }
        doorbell.await(inFlight.isEmpty() && waiting.isEmpty() ? waitNanos : pause.next(waitNanos));
        advance();
    }

    private boolean advance() {
        for (SsgTask task = errands.poll(); task != null; task = errands.poll()) {
            takeBack(task);
        }
        boolean any = submit();
        any |= look();
        for (SsgTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            task.report();
        }
        return any;
    }

    private void takeBack(SsgTask task) {
        if (task.kind() == Request.Kind.SYNC || task.hasFailed()) {
            ended.add(task);
        } else {
            waiting.addFirst(task);
        }
    }

    private boolean submit() {
        for (int count = waiting.size(); count > 0; count--) {
            SsgTask task = waiting.remove();
            if (!start(task)) {
                waiting.add(task); // behind the others, all of which go the same way round
            }
        }
        if (submitted.isEmpty()) {
            return false;
        }
        queues.flush();
        submitted.forEach(SsgQueue::joinOrder);
        submitted.clear();
        return true;
    }

    /** Puts the point of the transfer's fence behind a command, which is in the device's order from now on. */
    private static void joinOrder(SsgTask task) {
        ClPoint point = task.point;
        Runnable inOrder = task.inOrder;
        task.inOrder = null; // once, also where it goes round again
        if (point != null && inOrder != null && task.isUnderWay()) {
            point.join(task.lastEvent());
            inOrder.run();
        }
    }

    /** Starts a task; false if it has to wait, for fences or for the ring. */
    private boolean start(SsgTask task) {
        switch (task.kind()) {
            case SYNC -> errands.run(task, task::sync);
            case COPY_IN, COPY_OUT -> {
                new SsgChain(task, queues.next(task.point)).copy();
                started(task);
            }
            case READ, WRITE -> {
                return startFile(task);
            }
        }
        return true;
    }

    private boolean startFile(SsgTask task) {
        if (!task.maySubmit()) {
            return false;
        }
        switch (needs.take(task)) {
            case HELD -> {
                new SsgChain(task, queues.next(task.point)).file();
                started(task);
            }
            case NO_RING -> {
                return false;
            }
            case AWAY -> {} // comes back
            case ENDED -> finish(task);
        }
        return true;
    }

    private void started(SsgTask task) {
        if (task.isUnderWay()) {
            inFlight.add(task);
            submitted.add(task);
        } else {
            needs.letGo(task);
            finish(task);
        }
    }

    /**
     * Looks at what was submitted last first, and goes on with it in the order of submission: so a command never seems to
     * have ended before one that it waited for.
     *
     * @return whether a command is to be submitted once more
     */
    private boolean look() {
        for (int i = inFlight.size() - 1; i >= 0; i--) {
            SsgTask task = inFlight.get(i);
            if (task.hasEnded()) {
                inFlight.remove(i);
                passed.addFirst(task);
            }
        }
        for (SsgTask task = passed.poll(); task != null; task = passed.poll()) {
            passed(task);
        }
        boolean again = !repeated.isEmpty();
        for (SsgTask task = repeated.pollLast(); task != null; task = repeated.pollLast()) {
            waiting.addFirst(task);
        }
        return again;
    }

    /** Takes a task that the device has passed. */
    private void passed(SsgTask task) {
        boolean failedWait = task.hasWaitList() && isFailedWait(task);
        NativeFailure failed = task.forgetSteps();
        needs.letGo(task);
        if (failedWait) {
            // A fence that fails is passed too, and what waited for it goes on: its own outcome tells. But not yet,
            // for there may be others, and the event of a transfer that waits in vain fails before that has ended.
            task.waitsNoMore = true;
            task.ends(0);
            repeated.add(task);
            return;
        }
        if (failed != null) {
            task.fails(failed);
        } else if (!task.hasFailed() && !task.mapping) { // no queue has refused a step behind the first
            task.ends();
        }
        if (task.mapping) {
            mapped(task);
        } else {
            finish(task);
        }
    }

    /** Ends a task whose bytes have moved, also one that needed no command, behind a map if the processor clears its slot. */
    private void finish(SsgTask task) {
        if (isLookedAt(task)) {
            map(task);
        } else {
            ended.add(task);
        }
    }

    private static boolean isFailedWait(SsgTask task) {
        return task.firstStatus() == OpenClError.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }

    /** Returns whether the processor has to get a slot: where a file ends in it, the engine clears what lies behind. */
    private static boolean isLookedAt(SsgTask task) {
        return task.kind() == Request.Kind.READ
                && task.memory() instanceof SsgSlot slot
                && !slot.isMapped()
                && !task.hasFailed()
                && task.moved() < task.bytes();
    }

    private void map(SsgTask task) {
        task.mapping = true;
        long queue = queues.next(null);
        new SsgChain(task, queue).map((SsgSlot) task.memory());
        queues.flush();
        if (task.isUnderWay()) {
            inFlight.add(task);
        } else {
            mapped(task);
        }
    }

    private void mapped(SsgTask task) {
        ((SsgSlot) task.memory()).mapped(!task.hasFailed());
        ended.add(task);
    }

    @Override
    public void wake() {
        doorbell.ring();
    }

    @Override
    public void close() {
        queues.close();
        session.leave();
    }
}
