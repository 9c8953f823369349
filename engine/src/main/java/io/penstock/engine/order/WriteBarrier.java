// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes a sync wait for every write that was accepted before it, and keeps the first failure of a sync permanently
 * (rule 403). One per open file.
 *
 * <p>Writes between two syncs form an epoch; a sync is covered when its epoch and all earlier ones have ended. Later
 * writes do not delay it.
 *
 * <p><b>Threading:</b> thread-safe. A covered sync runs on the thread that ended the last write, outside the lock; it
 * should only post.
 */
public final class WriteBarrier {

    /** Returned by {@link #accept} and passed to {@link #ended}. */
    public static final class Epoch {

        private long writes; // accepted, not ended
        private @Nullable Runnable sync; // null while this is the youngest epoch
    }

    private final ArrayDeque<Epoch> epochs = new ArrayDeque<>(2); // oldest first; the last one takes new writes
    private @Nullable Throwable failure;

    public WriteBarrier() {
        epochs.add(new Epoch());
    }

    /** Counts a write, at its subscription; every later sync covers it. */
    public synchronized Epoch accept() {
        Epoch youngest = epochs.getLast();
        youngest.writes++;
        return youngest;
    }

    /** Called when a write has ended natively, with any result; once per {@link #accept}. */
    public void ended(Epoch epoch) {
        List<Runnable> covered;
        synchronized (this) {
            if (--epoch.writes > 0 || epoch != epochs.getFirst()) {
                return;
            }
            covered = popCovered();
        }
        covered.forEach(Runnable::run);
    }

    /** Calls {@code whenCovered} once all writes accepted so far have ended: now, if they have. */
    public void sync(Runnable whenCovered) {
        synchronized (this) {
            Epoch youngest = epochs.getLast();
            if (youngest != epochs.getFirst() || youngest.writes > 0) {
                youngest.sync = whenCovered;
                epochs.add(new Epoch());
                return;
            }
        }
        whenCovered.run();
    }

    private List<Runnable> popCovered() {
        List<Runnable> covered = new ArrayList<>(1);
        for (Epoch oldest = epochs.getFirst(); oldest.writes == 0; oldest = epochs.getFirst()) {
            if (oldest.sync == null) {
                break; // the youngest epoch remains
            }
            covered.add(oldest.sync);
            epochs.removeFirst();
        }
        return covered;
    }

    /** Records the failure of a sync, unless there is one already; returns the recorded one. */
    public synchronized Throwable fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        return failure;
    }

    /** Returns the failure of the first sync that failed, or null. */
    public synchronized @Nullable Throwable failure() {
        return failure;
    }
}
