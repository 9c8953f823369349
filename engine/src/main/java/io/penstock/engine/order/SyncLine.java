// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import java.util.ArrayDeque;

/**
 * Runs the native syncs of one handle one at a time. The kernel reports a failed write-back once to each descriptor, to
 * the first sync (fsync(2)): of two concurrent ones, the other would succeed, although its bytes are lost.
 *
 * <p><b>Threading:</b> thread-safe. A sync starts on the thread that ended the sync before, outside the lock; it should
 * only post.
 */
public final class SyncLine {

    private final ArrayDeque<Runnable> line = new ArrayDeque<>(1); // the first is running; guarded by this

    /** Calls {@code start} when every sync before it has {@link #ended}: now, if they have. */
    public void enter(Runnable start) {
        synchronized (this) {
            line.add(start);
            if (line.size() > 1) {
                return;
            }
        }
        start.run();
    }

    /** Called when the running sync has ended and its failure, if any, is recorded in the barrier. */
    public void ended() {
        Runnable next;
        synchronized (this) {
            line.remove();
            next = line.peek();
        }
        if (next != null) {
            next.run();
        }
    }
}
