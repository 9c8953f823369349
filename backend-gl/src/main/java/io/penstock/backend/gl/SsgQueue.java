// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.ssg.SsgResults;
import io.penstock.engine.staging.Doorbell;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.scheduler.Schedulers;

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
            tasks[id].result = SsgResults.CANCELLED;
            ended.add(tasks[id]);
        }
    }

    @Override
    public void turn(long waitNanos, Completions completions) {
        submit();
        if (!report(completions) && waitNanos != 0) {
            doorbell.await(waitNanos);
            report(completions);
        }
    }

    private void submit() {
        if (waiting.isEmpty()) {
            return;
        }
        List<SsgTask> batch = new ArrayList<>(waiting.size());
        for (SsgTask task = waiting.poll(); task != null; task = waiting.poll()) {
            if (task.kind == Command.Kind.SYNC) {
                sync(task);
            } else {
                batch.add(task);
            }
        }
        hand(batch);
    }

    private void hand(List<SsgTask> batch) {
        if (!batch.isEmpty() && !session.context().post(() -> work.start(batch))) {
            for (SsgTask task : batch) {
                task.result = GlCall.RESET.failed(GlError.CONTEXT_LOST); // it has ended, and all in it
                ended(task);
            }
        }
    }

    private boolean report(Completions completions) {
        boolean any = false;
        for (SsgTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            long result = task.result;
            task.forget();
            completions.completed(task.id, result);
        }
        return any;
    }

    private void ended(SsgTask task) {
        ended.add(task);
        doorbell.ring();
    }

    private void sync(SsgTask task) {
        outside(() -> {
            task.result =
                    SsgResults.ofHost(BlockingBytes.INSTANCE.sync(task.file().host()));
            ended(task);
        });
    }

    /** Makes a file so long that all of a write is in it: a driver may lengthen files that it writes, or not. */
    private void lengthen(SsgTask task) {
        outside(() -> {
            try {
                task.file().host().lengthen(task.fileOffset + task.bytes);
            } catch (IOException | RuntimeException e) {
                task.result = SsgResults.ofHost(e);
                ended(task);
                return;
            }
            hand(List.of(task));
        });
    }

    private static void outside(Runnable call) {
        try {
            Schedulers.boundedElastic().schedule(call);
        } catch (RejectedExecutionException shutDown) {
            call.run(); // the application has shut the scheduler down: better on the wrong thread than never
        }
    }

    @Override
    public void wake() {
        doorbell.ring();
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return SsgResults.failure(kind, result, GlCall::failure);
    }

    @Override
    public void close() {
        session.context().post(work::close);
        session.leave();
    }
}
