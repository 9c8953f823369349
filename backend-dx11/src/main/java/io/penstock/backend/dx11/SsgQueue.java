// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgErrands;
import io.penstock.engine.spi.ssg.SsgFile;
import io.penstock.engine.spi.ssg.SsgRefusal;
import io.penstock.engine.spi.staging.Doorbell;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Transfers of AMD's: what goes between one file and one buffer in one turn is one call with several regions.
 *
 * <p><b>Threading:</b> as {@link NativeQueue}; waits run on {@link SsgWaiters}, copies of edges on the device's executor, what
 * else may block (syncs, opening a file anew) on threads of Reactor's, and all of it comes back.
 *
 * <p><b>Cancellation:</b> takes a request back that the driver has not got; others end by themselves, since the interface has
 * no way to stop one.
 */
final class SsgQueue implements NativeQueue {

    private final SsgInterface ssg;
    private final SsgSizes sizes;
    private final Function<Request, SsgTask> newTask;
    private final ArrayDeque<SsgTask> waiting = new ArrayDeque<>(); // for the driver, for a waiter or for the buffer
    private final List<SsgCall> filled = new ArrayList<>(); // in the turn under way
    private final ArrayDeque<SsgTask> ended = new ArrayDeque<>();
    private final Doorbell doorbell = new Doorbell();
    private final SsgErrands<SsgTask> errands = new SsgErrands<>(doorbell);
    private final Runnable bell = doorbell::ring; // one for all buffers, and the same each time
    private final SsgWaiters waiters;

    SsgQueue(SsgInterface ssg, SsgSizes sizes) {
        this.ssg = ssg;
        this.sizes = sizes;
        ssg.join();
        this.waiters = new SsgWaiters(ssg, sizes, bell);
        this.newTask = request -> new SsgTask(request, errands::giveBack);
    }

    @Override
    public int depth() {
        return sizes.depth();
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
            fail(task, SsgTask.CANCELLED);
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
        for (SsgCall call = waiters.ended(); call != null; call = waiters.ended()) {
            takeBack(call);
        }
        for (int count = waiting.size(); count > 0; count--) {
            start(waiting.remove());
        }
        filled.forEach(this::submit);
        filled.clear();
        boolean any = false;
        for (SsgTask task = ended.poll(); task != null; task = ended.poll()) {
            any = true;
            task.report();
        }
        return any;
    }

    private void takeBack(SsgTask task) {
        boolean ofFile = task.kind() == Request.Kind.READ || task.kind() == Request.Kind.WRITE;
        if (ofFile && !task.hasFailed()) {
            waiting.addFirst(task); // its file is ready now
        } else {
            ended.add(task);
        }
    }

    private void start(SsgTask task) {
        switch (task.kind()) {
            case SYNC -> errands.run(task, task::sync);
            case COPY_IN, COPY_OUT -> copy(task);
            case READ, WRITE -> {
                try {
                    startFile(task);
                } catch (IOException e) {
                    task.fails(e);
                    ended.add(task);
                }
            }
        }
    }

    private void copy(SsgTask task) {
        try {
            ssg.device().executor().pump().watch(task.copyStep);
        } catch (RejectedExecutionException closed) {
            fail(task, SsgTask.CANCELLED);
        }
    }

    private void startFile(SsgTask task) throws IOException {
        SsgObject object = known(task);
        if (object == null) {
            object = asked(task);
        }
        if (object != null && !join(task, object)) {
            object.release();
            waiting.add(task); // behind the others, all of which go the same way round
        }
    }

    /** Returns what reads bytes that the driver knows of: a file that was cut since is found out at the end. */
    private static @Nullable SsgObject known(SsgTask task) throws IOException {
        if (task.isWrite() || !task.isFirstAttempt() || task.bytes() > Long.MAX_VALUE - task.fileOffset()) {
            return null;
        }
        task.want(Long.MAX_VALUE);
        return (SsgObject) task.file().handle().take(false, task.end());
    }

    /** Asks how long the file is; null where the task goes on later, or has ended. */
    private @Nullable SsgObject asked(SsgTask task) throws IOException {
        SsgFile file = task.file();
        long size = file.size();
        if (task.want(size) == 0) {
            end(task, 0);
            return null;
        }
        SsgObject object =
                task.lengthens(size) ? null : (SsgObject) file.handle().take(task.isWrite(), task.end());
        if (object == null) {
            prepare(task);
        }
        return object;
    }

    /** Puts a task into a call of this turn, or begins one; false if there is no room, or the buffer is not free. */
    private boolean join(SsgTask task, SsgObject object) {
        for (SsgCall call : filled) {
            if (call.takes(task, object)) {
                call.add(task);
                object.release(); // the call has its own use
                return true;
            }
        }
        SsgCall call = waiters.take();
        if (call == null) {
            return false;
        }
        DeviceMemory memory = task.memory();
        if (memory instanceof Dx11Memory buffer && !buffer.turns().tryTransfer(bell)) {
            waiters.give(call);
            return false;
        }
        call.begin(task, object);
        filled.add(call);
        return true;
    }

    private void submit(SsgCall call) {
        if (!sizes.asynchronous() || call.submit()) {
            waiters.wait(call);
        } else {
            takeBack(call);
            doorbell.ring(); // what goes again goes in the next turn
        }
    }

    private void takeBack(SsgCall call) {
        boolean several = call.tasks().size() > 1;
        for (SsgTask task : call.tasks()) {
            if (call.failure != null && (several || task.isCut())) {
                task.alone = true; // which of them it was, the driver does not say
                task.tryAgain();
                waiting.add(task);
            } else if (call.failure != null) {
                fail(task, call.failure);
            } else {
                task.ends();
                ended(task);
            }
        }
        call.end();
        waiters.give(call);
    }

    private void prepare(SsgTask task) {
        if (!task.mayTryAgain()) {
            task.fails(new SsgRefusal(task.file() + " is cut and lengthened all the time"));
            ended.add(task);
            return;
        }
        task.tryAgain();
        errands.run(task, () -> task.file().handle().reach(task.isWrite(), task.end()));
    }

    private void end(SsgTask task, long bytes) {
        task.ends(bytes);
        ended(task);
    }

    private void fail(SsgTask task, NativeFailure cause) {
        task.fails(cause);
        ended.add(task);
    }

    /** Has a slot know how far a read has filled it: the rest is what it was for the transfer before. */
    private void ended(SsgTask task) {
        if (!task.hasFailed() && task.memory() instanceof SsgSlot slot && task.moved() < task.bytes()) {
            slot.endsAt(task.memoryOffset() + task.moved());
        }
        ended.add(task);
    }

    @Override
    public void wake() {
        doorbell.ring();
    }

    @Override
    public void close() {
        waiters.close();
        ssg.leave();
    }
}
