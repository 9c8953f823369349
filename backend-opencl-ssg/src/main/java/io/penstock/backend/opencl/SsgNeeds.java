// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.ssg.SsgFile;
import io.penstock.engine.ssg.SsgHandle;
import io.penstock.engine.ssg.SsgResults;
import java.io.IOException;

/**
 * What a command between a file and memory needs before the device gets it: a file object that sees all of its bytes, and
 * a part of the ring where the disk cannot reach the memory. Both are the task's until {@link #letGo}.
 *
 * <p><b>Threading:</b> the lane's thread.
 */
final class SsgNeeds {

    /** How often a file object is opened anew for one command, while others cut and lengthen the file. */
    private static final int MOST_ATTEMPTS = 8;

    /** What became of a task that asked for what it needs. */
    enum Answer {
        /** It has all, and may go. */
        HELD,
        /** The ring is full; it has nothing, and asks again. */
        NO_RING,
        /** The file is opened anew, or made longer first, on another thread; it has nothing until it is back. */
        AWAY,
        /** There is nothing to be moved, or its result is the failure. */
        ENDED
    }

    private final SsgRing ring;
    private final SsgErrands errands;

    SsgNeeds(SsgRing ring, SsgErrands errands) {
        this.ring = ring;
        this.errands = errands;
    }

    /** Gives a task what it needs, if that is to be had; says in the task how much it is to move. */
    Answer take(SsgTask task) {
        try {
            SsgFile file = task.file();
            boolean write = task.kind == Command.Kind.WRITE;
            long size = file.size();
            task.wanted = write ? task.bytes : Math.max(0, Math.min(task.bytes, size - task.fileOffset));
            if (task.wanted == 0) {
                return ended(task, 0);
            }
            task.ring = needsRing(task) ? ring.take() : null;
            if (task.ring == null && needsRing(task)) {
                return Answer.NO_RING;
            }
            long end = task.fileOffset + task.wanted;
            task.object = write && size < end ? null : (SsgObject) file.handle().take(write, end);
            if (task.object != null) {
                return Answer.HELD;
            }
            giveRing(task);
            return prepare(task, end);
        } catch (IOException e) {
            giveRing(task);
            return ended(task, SsgResults.ofHost(e));
        }
    }

    private static boolean needsRing(SsgTask task) {
        return task.memory instanceof ClMemory memory && !memory.span().isReachable();
    }

    private Answer prepare(SsgTask task, long end) {
        if (++task.attempts > MOST_ATTEMPTS) {
            return ended(task, ClCall.OPEN_FILE.failed(OpenClError.INVALID_FILE_OBJECT_AMD));
        }
        SsgHandle handle = task.file().handle();
        boolean write = task.kind == Command.Kind.WRITE;
        errands.run(task, () -> reach(handle, write, end));
        return Answer.AWAY;
    }

    private static long reach(SsgHandle handle, boolean write, long end) {
        try {
            handle.reach(write, end);
            return 0;
        } catch (IOException e) {
            return SsgResults.ofHost(e);
        }
    }

    private static Answer ended(SsgTask task, long result) {
        task.result = result;
        return Answer.ENDED;
    }

    /** Takes back what a task has. */
    void letGo(SsgTask task) {
        SsgObject object = task.object;
        task.object = null;
        if (object != null) {
            object.release();
        }
        giveRing(task);
    }

    private void giveRing(SsgTask task) {
        ClSpan span = task.ring;
        task.ring = null;
        if (span != null) {
            ring.give(span);
        }
    }
}
