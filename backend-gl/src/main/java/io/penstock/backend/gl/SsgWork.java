// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The side of a lane's queue that calls GL: has the driver move files ({@link SsgTransfers}), copies between ring and
 * buffers, and looks for the ends of both.
 *
 * <p><b>Threading:</b> the thread of the context.
 */
final class SsgWork {

    private final SsgSession session;
    private final GlContext context;
    private final GlCopies copies;
    private final Consumer<SsgTask> ended;
    private final Consumer<SsgTask> lengthens;
    private final ArrayDeque<SsgTask> waiting = new ArrayDeque<>(); // for the ring
    private final SsgTransfers transfers;
    private final List<SsgTask> copying = new ArrayList<>(); // in the order of submission
    private final ArrayDeque<SsgTask> passed = new ArrayDeque<>(); // of them, what the look under way has found
    private boolean watched;

    /**
     * Makes it; on any thread.
     *
     * @param ended takes tasks that have ended
     * @param lengthens takes writes whose file has to be made longer first, and starts them again
     */
    SsgWork(SsgSession session, Consumer<SsgTask> ended, Consumer<SsgTask> lengthens) {
        this.session = session;
        this.context = session.context();
        this.copies = new GlCopies(context);
        this.transfers = new SsgTransfers(context, this::transferred);
        this.ended = ended;
        this.lengthens = lengthens;
    }

    /** Starts tasks, which then end by themselves. */
    void start(List<SsgTask> tasks) {
        tasks.forEach(this::start);
        transfers.flush();
        watch();
    }

    private void start(SsgTask task) {
        switch (task.kind()) {
            case COPY_IN, COPY_OUT -> copy(task, task.step.as(task.request()));
            default -> startFile(task);
        }
    }

    private void startFile(SsgTask task) {
        try {
            SsgFile file = task.file();
            long size = file.size();
            if (task.want(size) == 0) {
                task.ends(0);
                end(task);
            } else if (task.lengthens(size)) {
                again(task);
            } else if (task.needsRing() && !takeRing(task)) {
                waiting.add(task);
            } else {
                task.object = file.take(task.end(), size);
                if (task.object == null) {
                    again(task);
                } else {
                    begin(task);
                }
            }
        } catch (IOException e) {
            fail(task, e);
        }
    }

    private boolean takeRing(SsgTask task) {
        task.ring = session.ring().take();
        return task.ring != null;
    }

    private void again(SsgTask task) {
        letGo(task);
        if (!task.mayTryAgain()) {
            fail(task, new SsgRefusal("the driver does not see the file reach to " + task.end()));
            return;
        }
        task.tryAgain();
        if (task.isWrite()) {
            lengthens.accept(task);
        } else {
            startFile(task);
        }
    }

    private void begin(SsgTask task) {
        if (task.isWrite() && task.ring != null) {
            copy(task, fillRing(task, task.ring));
        } else {
            transfers.start(task);
        }
    }

    private static Request fillRing(SsgTask task, GlMemory ring) {
        return task.step
                .copy(Request.Kind.COPY_IN, task.memory(), task.memoryOffset(), task.bytes())
                .memory(ring, 0);
    }

    private static Request emptyRing(SsgTask task, GlMemory ring) {
        return task.step
                .copy(Request.Kind.COPY_OUT, task.memory(), task.memoryOffset(), task.wanted())
                .memory(ring, 0);
    }

    private void copy(SsgTask task, Request step) {
        task.hasCopied = false;
        copies.copy(step);
        if (task.hasCopied) {
            copied(task);
        } else {
            copying.add(task);
        }
    }

    private void watch() {
        if (!watched && !(transfers.isIdle() && copying.isEmpty())) {
            watched = true;
            context.watch(this::look);
        }
    }

    /**
     * Looks for what has ended, last first, and goes on with it in the order of submission. Answers whether there is nothing more to
     * look for.
     */
    private boolean look() {
        transfers.look();
        for (int i = copying.size() - 1; i >= 0; i--) {
            SsgTask task = copying.get(i);
            copies.poll(task.step);
            if (task.hasCopied) {
                copying.remove(i);
                passed.addFirst(task);
            }
        }
        for (SsgTask task = passed.poll(); task != null; task = passed.poll()) {
            copied(task);
        }
        for (int count = waiting.size(); count > 0; count--) {
            startFile(waiting.remove());
        }
        transfers.flush();
        watched = !(transfers.isIdle() && copying.isEmpty());
        return !watched;
    }

    /** Goes on when the driver has moved the blocks, or has failed to. */
    private void transferred(SsgTask task, @Nullable NativeFailure failure) {
        GlMemory ring = task.ring;
        if (failure != null && task.isCut()) {
            again(task);
        } else if (failure != null) {
            task.fails(failure);
            end(task);
        } else if (!task.isWrite() && ring != null) {
            copy(task, emptyRing(task, ring));
        } else {
            task.ends();
            end(task);
        }
    }

    private void copied(SsgTask task) {
        if (task.hasFailed()) {
            end(task);
        } else if (task.isWrite()) {
            transfers.start(task);
        } else {
            task.ends();
            end(task);
        }
    }

    private void letGo(SsgTask task) {
        SsgObject object = task.object;
        GlMemory ring = task.ring;
        task.object = null;
        task.ring = null;
        if (object != null) {
            object.release();
        }
        if (ring != null) {
            session.ring().give(ring);
        }
    }

    private void fail(SsgTask task, Throwable cause) {
        task.fails(cause);
        end(task);
    }

    private void end(SsgTask task) {
        letGo(task);
        ended.accept(task);
    }

    /** Gives back what it has of GL; no task is under way. */
    void close() {
        transfers.close();
    }
}
