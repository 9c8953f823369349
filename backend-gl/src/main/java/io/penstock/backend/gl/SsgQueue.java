// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgErrands;
import io.penstock.engine.spi.staging.Doorbell;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Requests by the extension, which the thread of the context carries out ({@link SsgWork}).
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; what blocks (syncs, lengthening a file) runs on threads of Reactor's and
 * comes back.
 *
 * <p><b>Cancellation:</b> takes a request back that the context's thread has not got; others end by themselves, since the
 * extension cancels nothing.
 */
final class SsgQueue implements NativeQueue {

    private final SsgSession session;
    private final SsgWork work;
    private final ArrayDeque<SsgTask> waiting = new ArrayDeque<>();
    private final ConcurrentLinkedQueue<SsgTask> ended = new ConcurrentLinkedQueue<>();
    private final Doorbell doorbell = new Doorbell();
    private final SsgErrands<SsgTask> errands = new SsgErrands<>(doorbell);

    SsgQueue(SsgSession session) {
        this.session = session;
        session.join();
        this.work = new SsgWork(session, this::ended, this::lengthen);
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

    private static SsgTask task(Request request) {
        return request.attachment(SsgTask.class, SsgTask::new);
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
        if (!advance() && waitNanos != 0) {
            doorbell.await(waitNanos);
            advance();
        }
    }

    private boolean advance() {
        for (SsgTask task = errands.poll(); task != null; task = errands.poll()) {
            takeBack(task);
        }
        submit();
        return report();
    }

    private void takeBack(SsgTask task) {
        if (task.kind() == Request.Kind.SYNC || task.hasFailed()) {
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
            if (task.kind() == Request.Kind.SYNC) {
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
                task.fails(GlCall.RESET.failure(GlError.CONTEXT_LOST)); // it has ended, and all in it
                ended(task);
            }
        }
    }

    private boolean report() {
        boolean any = false;
        for (SsgTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            task.report();
        }
        return any;
    }

    private void ended(SsgTask task) {
        ended.add(task);
        doorbell.ring();
    }

    /** Makes a file so long that all of a write is in it: a driver may lengthen files that it writes, or not. */
    private void lengthen(SsgTask task) {
        errands.run(task, () -> task.file().host().lengthen(task.end()));
    }

    @Override
    public void wake() {
        doorbell.ring();
    }

    @Override
    public void close() {
        session.context().post(work::close);
        session.leave();
    }
}
