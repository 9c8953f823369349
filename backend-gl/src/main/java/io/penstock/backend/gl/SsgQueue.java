// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.ssg.SsgErrands;
import io.penstock.engine.ssg.SsgResults;
import io.penstock.engine.staging.Doorbell;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Commands of the extension's, which the thread of the context carries out ({@link SsgWork}).
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; what blocks (syncs, lengthening a file) runs on threads of Reactor's and
 * comes back.
 *
 * <p><b>Cancellation:</b> takes a command back that the context's thread has not got; others end by themselves, since the
 * extension cancels nothing.
 */
final class SsgQueue implements NativeQueue {

    private final SsgSession session;
    private final SsgWork work;
    private final SsgTask[] tasks; // by id
    private final ArrayDeque<SsgTask> waiting = new ArrayDeque<>();
    private final ConcurrentLinkedQueue<SsgTask> ended = new ConcurrentLinkedQueue<>();
    private final Doorbell doorbell = new Doorbell();
    private final SsgErrands<SsgTask> errands = new SsgErrands<>(doorbell);

    SsgQueue(SsgSession session) {
        this.session = session;
        session.join();
        this.work = new SsgWork(session, this::ended, this::lengthen);
        this.tasks = new SsgTask[session.sizes().depth()];
        for (int id = 0; id < tasks.length; id++) {
            tasks[id] = new SsgTask(id);
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
            tasks[id].result(SsgResults.CANCELLED);
            ended.add(tasks[id]);
        }
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        if (!advance(completions) && waitNanos != 0) {
            doorbell.await(waitNanos);
            advance(completions);
        }
    }

    private boolean advance(Completions completions) {
        for (SsgTask task = errands.poll(); task != null; task = errands.poll()) {
            takeBack(task);
        }
        submit();
        return report(completions);
    }

    private void takeBack(SsgTask task) {
        if (task.kind() == Command.Kind.SYNC || task.result() < 0) {
            ended.add(task);
        } else {
            waiting.addFirst(task);
        }
    }

    private void submit() {
        if (waiting.isEmpty()) {
            return;
        }
        List<SsgTask> batch = new ArrayList<>(waiting.size());
        for (SsgTask task = waiting.poll(); task != null; task = waiting.poll()) {
            if (task.kind() == Command.Kind.SYNC) {
                errands.run(task, task::sync);
            } else {
                batch.add(task);
            }
        }
        hand(batch);
    }

    private void hand(List<SsgTask> batch) {
        if (!batch.isEmpty() && !session.context().post(() -> work.start(batch))) {
            for (SsgTask task : batch) {
                task.result(GlCall.RESET.failed(GlError.CONTEXT_LOST)); // it has ended, and all in it
                ended(task);
            }
        }
    }

    private boolean report(Completions completions) {
        boolean any = false;
        for (SsgTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            long result = task.result();
            task.forget();
            completions.completed(task.id(), result);
        }
        return any;
    }

    private void ended(SsgTask task) {
        ended.add(task);
        doorbell.ring();
    }

    /** Makes a file so long that all of a write is in it: a driver may lengthen files that it writes, or not. */
    private void lengthen(SsgTask task) {
        errands.run(task, () -> {
            task.file().host().lengthen(task.end());
            return 0;
        });
    }

    @Override
    public void wake() {
        doorbell.ring();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return SsgResults.failure(kind, result, tasks, GlCall::failure);
    }

    @Override
    public void close() {
        session.context().post(work::close);
        session.leave();
    }
}
