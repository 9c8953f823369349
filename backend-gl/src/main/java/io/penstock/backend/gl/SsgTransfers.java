// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.ffi.Ssg;
import io.penstock.engine.spi.NativeFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The transfers that the driver has, between files and buffers that it can reach: in groups, each of which ends by one
 * sync object.
 *
 * <p><b>Threading:</b> the thread of the context.
 */
final class SsgTransfers {

    /** A context that is lost may leave syncs as they were: it is asked about at every so many looks in vain. */
    private static final int LOOKS_PER_QUESTION = 64;

    /** Hears of ends. */
    @FunctionalInterface
    interface Ends {

        /** Takes a task back: its blocks were moved, or {@code failure} says why not. */
        void ended(SsgTask task, @Nullable NativeFailure failure);
    }

    private final GlContext context;
    private final Ends ends;
    private final List<SsgGroup> running = new ArrayList<>(); // in the order of submission
    private final ArrayDeque<SsgGroup> passed = new ArrayDeque<>(); // of them, what the look under way has found
    private final ArrayDeque<SsgGroup> idle = new ArrayDeque<>();
    private @Nullable SsgGroup open; // transfers that start now join it
    private int looks;

    SsgTransfers(GlContext context, Ends ends) {
        this.context = context;
        this.ends = ends;
    }

    /** Has the driver move the blocks, beside other work where it does that; else the task has ended on return. */
    void start(SsgTask task) {
        SsgGroup group = task.buffer().refusesSyncs() ? null : group();
        int code = call(task, group == null ? 0 : group.address());
        if (code == GlError.INVALID_OPERATION && group != null) {
            // A sync for a buffer that the driver does not take one for, or no access to the file: the one is told from
            // the other by asking without.
            group = null;
            code = call(task, 0);
            if (code == GlError.NO_ERROR) {
                task.buffer().refuseSyncs();
            }
        }
        if (code != GlError.NO_ERROR) {
            ends.ended(task, (task.isWrite() ? GlCall.WRITE_FILE : GlCall.READ_FILE).failure(code));
        } else if (group == null) {
            ends.ended(task, null);
        } else {
            group.add(task);
        }
    }

    private int call(SsgTask task, long sync) {
        SsgObject object = Objects.requireNonNull(task.object);
        long bytes = task.wholeBlocks();
        int buffer = task.buffer().name();
        GlFailure.takeError(); // what others have left is not the driver's answer to this
        if (task.isWrite()) {
            Ssg.glWriteFileAMD(buffer, object.handle(), task.bufferOffset(), task.fileOffset(), bytes, sync);
        } else {
            Ssg.glReadFileAMD(buffer, object.handle(), task.bufferOffset(), task.fileOffset(), bytes, sync);
        }
        return GlFailure.takeError();
    }

    private SsgGroup group() {
        SsgGroup group = open;
        if (group != null && group.isFull()) {
            flush();
            group = null;
        }
        if (group == null) {
            group = idle.isEmpty() ? new SsgGroup() : idle.pop();
            group.begin();
            open = group;
        }
        return group;
    }

    /** Has the driver begin with all that was started. */
    void flush() {
        SsgGroup group = open;
        open = null;
        if (group == null) {
            return;
        }
        Gl.glFlush(); // a sync that is not flushed may never be passed
        if (group.isEmpty()) {
            idle.push(group);
        } else {
            running.add(group);
        }
    }

    /** Returns whether there is no end to look for. */
    boolean isIdle() {
        return running.isEmpty();
    }

    /** Looks for what has ended, last first, and tells of it in the order of submission. */
    void look() {
        for (int i = running.size() - 1; i >= 0; i--) {
            SsgGroup group = running.get(i);
            if (hasPassed(group)) {
                running.remove(i);
                passed.addFirst(group);
            }
        }
        for (SsgGroup group = passed.poll(); group != null; group = passed.poll()) {
            NativeFailure failed = group.failed;
            List<SsgTask> tasks = group.end();
            idle.push(group);
            for (SsgTask task : tasks) {
                ends.ended(task, failed);
            }
        }
    }

    private boolean hasPassed(SsgGroup group) {
        int state = Gl.glClientWaitSync(group.sync(), 0, 0);
        boolean passed = state != Gl.GL_TIMEOUT_EXPIRED;
        // Syncs of a context that is lost count as passed, or never are.
        int reset = passed || ++looks % LOOKS_PER_QUESTION == 0 ? context.resetStatus() : GlError.NO_ERROR;
        group.failed = null;
        if (reset != GlError.NO_ERROR) {
            group.failed = GlCall.RESET.failure(reset);
        } else if (state == Gl.GL_WAIT_FAILED || state == 0) {
            int answer = GlFailure.takeError();
            if (GlFailure.cause(answer).isEmpty()) {
                Gl.glFinish(); // the answer is the question's, not the transfers', which may run on
            }
            group.failed = GlCall.WAIT.failure(answer);
        }
        return passed || reset != GlError.NO_ERROR;
    }

    /** Gives back what it has of GL; nothing is under way. */
    void close() {
        idle.forEach(SsgGroup::close);
        idle.clear();
    }
}
