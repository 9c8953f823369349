// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import io.penstock.engine.plan.Extents;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The registry of abandoned transfers: transfers that were cancelled or timed out while the device still works on them.
 * Their regions stay busy, and a later transfer that overlaps one waits for it (rule 205), so that an abandoned
 * transfer never overwrites a later one.
 *
 * <p><b>Threading:</b> thread-safe; {@link #isEmpty} is one volatile read. Waiters run on the thread that removed the
 * abandoned transfer, outside the lock; they should only post.
 */
public final class BusyRegions {

    private static final AbandonedTransfer[] NONE = {}; // before ALL, which starts with it

    /** The abandoned transfers of the process: files are shared by all backends. */
    public static final BusyRegions ALL = new BusyRegions();

    /** A transfer without a subscriber that the device still works on. */
    public static final class AbandonedTransfer {

        private final Extents extents;
        private final List<Runnable> waiters = new ArrayList<>(0); // guarded by the registry, like ended
        private boolean ended;

        public AbandonedTransfer(Extents extents) {
            this.extents = extents;
        }
    }

    private volatile AbandonedTransfer[] abandonedTransfers = NONE; // replaced under the lock, never changed

    /** Returns true if there are none, the usual case. */
    public boolean isEmpty() {
        // A transfer that sees none may race with a cancel on another thread; then neither is ordered after the other.
        // A cancel that happened before this transfer's subscription has added its abandoned transfer, which is seen.
        return abandonedTransfers.length == 0;
    }

    /** Returns the abandoned transfers at this moment. */
    public List<AbandonedTransfer> all() {
        return List.of(abandonedTransfers);
    }

    /**
     * Adds an abandoned transfer, unless it is present, or has been removed already: the device may complete a transfer
     * before its cancel gets here. To be called inside {@code cancel}, not later on an I/O queue.
     */
    public synchronized void add(AbandonedTransfer abandoned) {
        AbandonedTransfer[] old = abandonedTransfers;
        if (abandoned.ended || Arrays.asList(old).contains(abandoned)) {
            return;
        }
        AbandonedTransfer[] grown = Arrays.copyOf(old, old.length + 1);
        grown[old.length] = abandoned;
        abandonedTransfers = grown;
    }

    /**
     * Removes an abandoned transfer when the device has released it, and resumes the transfers that wait for it. A
     * second call does nothing.
     */
    public void remove(AbandonedTransfer abandoned) {
        List<Runnable> resumed;
        synchronized (this) {
            if (abandoned.ended) {
                return;
            }
            abandoned.ended = true;
            List<AbandonedTransfer> left = new ArrayList<>(List.of(abandonedTransfers));
            left.remove(abandoned);
            abandonedTransfers = left.isEmpty() ? NONE : left.toArray(NONE);
            resumed = List.copyOf(abandoned.waiters);
            abandoned.waiters.clear();
        }
        resumed.forEach(Runnable::run);
    }

    /** Returns an abandoned transfer that overlaps these extents, or null. */
    @Nullable
    public AbandonedTransfer overlapping(Extents extents) {
        for (AbandonedTransfer abandoned : abandonedTransfers) {
            if (abandoned.extents.conflicts(extents)) {
                return abandoned;
            }
        }
        return null;
    }

    /**
     * Registers {@code resume} to be called when an abandoned transfer that overlaps these extents ends; call this
     * again then, since there may be another.
     *
     * @return false if there is none; then {@code resume} is not called
     */
    public synchronized boolean waitsBehind(Extents extents, Runnable resume) {
        AbandonedTransfer abandoned = overlapping(extents); // atomic with the registration below
        return abandoned != null && abandoned.waiters.add(resume);
    }
}
