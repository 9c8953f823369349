// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.ssg.SsgErrands;
import io.penstock.engine.spi.ssg.SsgFile;
import java.io.IOException;

/**
 * What a command between a file and memory needs before the device gets it: a file object that sees all of its bytes, and
 * a part of the ring where the disk cannot reach the memory. Both are the task's until {@link #letGo}.
 *
 * <p><b>Threading:</b> the lane's thread.
 */
final class SsgNeeds {

    /** What became of a task that asked for what it needs. */
    enum Answer {
        /** It has all, and may go. */
        HELD,
        /** The ring is full; it has nothing, and asks again. */
        NO_RING,
        /** The file is opened anew, or made longer first, on another thread; it has nothing until it is back. */
        AWAY,
        /** There is nothing to be moved, or it has failed. */
        ENDED
    }

    private final SsgRing ring;
    private final SsgErrands<SsgTask> errands;

    SsgNeeds(SsgRing ring, SsgErrands<SsgTask> errands) {
        this.ring = ring;
        this.errands = errands;
    }

    /** Gives a task what it needs, if that is to be had; says in the task how much it is to move. */
    Answer take(SsgTask task) {
        try {
            SsgFile file = task.file();
            long size = file.size();
            if (task.want(size) == 0) {
                task.ends(0);
                return Answer.ENDED;
            }
            task.ring = needsRing(task) ? ring.take() : null;
            if (task.ring == null && needsRing(task)) {
                return Answer.NO_RING;
            }
            task.object =
                    task.lengthens(size) ? null : (SsgObject) file.handle().take(task.isWrite(), task.end());
            if (task.object != null) {
                return Answer.HELD;
            }
            giveRing(task);
            return prepare(task);
        } catch (IOException e) {
            giveRing(task);
            task.fails(e);
            return Answer.ENDED;
        }
    }

    private static boolean needsRing(SsgTask task) {
        return task.memory() instanceof ClMemory memory && !memory.span().isReachable();
    }

    private Answer prepare(SsgTask task) {
        if (!task.mayTryAgain()) {
            task.fails(ClCall.OPEN_FILE.failure(OpenClError.INVALID_FILE_OBJECT_AMD));
            return Answer.ENDED;
        }
        task.tryAgain();
        errands.run(task, () -> task.file().handle().reach(task.isWrite(), task.end()));
        return Answer.AWAY;
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
