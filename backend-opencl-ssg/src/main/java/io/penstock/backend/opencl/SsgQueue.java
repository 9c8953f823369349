// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.ssg.SsgErrands;
import io.penstock.engine.ssg.SsgResults;
import io.penstock.engine.staging.Doorbell;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands of the extension's, whose events are asked until they are terminal.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; what blocks (syncs, opening a file object anew) runs on threads of Reactor's
 * and comes back.
 *
 * <p><b>Cancellation:</b> takes a command back that the device has not got; others end by themselves, since nothing can be
 * taken out of a command queue.
 */
final class SsgQueue implements NativeQueue {

    private final SsgSession session;
    private final SsgQueues queues;
    private final SsgTask[] tasks; // by id
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
        this.tasks = new SsgTask[session.sizes().depth()];
        ByteBuffer cells = ByteBuffer.allocateDirect(tasks.length * SsgTask.CELL_BYTES);
        long address = NativeMemory.address(cells);
        for (int id = 0; id < tasks.length; id++) {
            int offset = id * SsgTask.CELL_BYTES;
            ByteBuffer own = cells.slice(offset, SsgTask.CELL_BYTES).order(ByteOrder.nativeOrder());
            tasks[id] = new SsgTask(id, own, address + offset);
        }
    }

    @Override
    public int depth() {
        return tasks.length;
    }

    @Override
    public void enqueue(int id, Command command) {
        tasks[id].fill(command);
        waiting.add(tasks[id]);
    }

    @Override
    public void cancel(int id) {
        if (waiting.remove(tasks[id])) {
            end(tasks[id], SsgResults.CANCELLED);
        }
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        boolean any = advance(completions);
        if (any || waitNanos == 0) {
            pause.reset();
            return;
        }
        doorbell.await(inFlight.isEmpty() && waiting.isEmpty() ? waitNanos : pause.next(waitNanos));
        advance(completions);
    }

    private boolean advance(Completions completions) {
        for (SsgTask task = errands.poll(); task != null; task = errands.poll()) {
            takeBack(task);
        }
        boolean any = submit();
        any |= look();
        for (SsgTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            task.forget();
            completions.completed(task.id(), task.result());
        }
        return any;
    }

    private void takeBack(SsgTask task) {
        if (task.kind() == Command.Kind.SYNC || task.result() < 0) {
            end(task, task.result());
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
            case ENDED -> finish(task, task.result());
        }
        return true;
    }

    private void started(SsgTask task) {
        if (task.isUnderWay()) {
            inFlight.add(task);
            submitted.add(task);
        } else {
            long refused = task.result();
            needs.letGo(task);
            finish(task, refused);
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
        long refused = task.result(); // a step that no queue took, behind others
        long failed = task.forgetSteps();
        needs.letGo(task);
        if (failedWait) {
            // A fence that fails is passed too, and what waited for it goes on: its own outcome tells. But not yet,
            // for there may be others, and the event of a transfer that waits in vain fails before that has ended.
            task.waitsNoMore = true;
            task.result(0);
            repeated.add(task);
            return;
        }
        long result = failed != 0 ? failed : refused != 0 ? refused : task.mapping ? task.movedBefore : task.moved();
        if (task.mapping) {
            mapped(task, result);
        } else {
            finish(task, result);
        }
    }

    /** Ends a task whose bytes have moved, also one that needed no command, behind a map if the processor clears its slot. */
    private void finish(SsgTask task, long result) {
        if (isLookedAt(task, result)) {
            map(task, result);
        } else {
            end(task, result);
        }
    }

    private static boolean isFailedWait(SsgTask task) {
        return task.firstStatus() == OpenClError.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }

    /** Returns whether the processor has to get a slot: where a file ends in it, the engine clears what lies behind. */
    private static boolean isLookedAt(SsgTask task, long result) {
        return task.kind() == Command.Kind.READ
                && task.memory() instanceof SsgSlot slot
                && !slot.isMapped()
                && result >= 0
                && result < task.bytes();
    }

    private void map(SsgTask task, long moved) {
        task.mapping = true;
        task.movedBefore = moved;
        long queue = queues.next(null);
        new SsgChain(task, queue).map((SsgSlot) task.memory());
        queues.flush();
        if (task.isUnderWay()) {
            inFlight.add(task);
        } else {
            mapped(task, task.result());
        }
    }

    private void mapped(SsgTask task, long result) {
        ((SsgSlot) task.memory()).mapped(result >= 0);
        end(task, result);
    }

    private void end(SsgTask task, long result) {
        task.result(result);
        ended.add(task);
    }

    @Override
    public void wake() {
        doorbell.ring();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return SsgResults.failure(kind, result, tasks, SsgQueue::failure);
    }

    private static NativeFailure failure(long answer) {
        NativeFailure failure = ClCall.failure(answer);
        boolean positive = failure.error().code() == OpenClError.INVALID_FILE_OBJECT_AMD;
        return positive
                ? new NativeFailure(failure.error(), NativeFailure.Kind.PERMANENT, "the driver has let go of the file")
                : failure;
    }

    @Override
    public void close() {
        queues.close();
        session.leave();
    }
}
