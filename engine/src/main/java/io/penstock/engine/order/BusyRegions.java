// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import io.penstock.engine.plan.Extents;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Knows the zombies: transfers that were cancelled or timed out while the device still works on them. Their regions
 * stay busy, and a later transfer that overlaps one waits behind it (rule 205), so that a zombie never lands last.
 *
 * <p><b>Threading:</b> thread-safe; {@link #isEmpty} is one volatile read. Waiters run on the thread that removed the
 * zombie, outside the lock; they should only post.
 */
public final class BusyRegions {

    private static final Zombie[] NONE = {}; // before ALL, which starts with it

    /** The zombies of the process: files are shared by all backends. */
    public static final BusyRegions ALL = new BusyRegions();

    /** A transfer without a subscriber that the device still works on. */
    public static final class Zombie {

        private final Extents extents;
        private final List<Runnable> waiters = new ArrayList<>(0); // guarded by the registry, like ended
        private boolean ended;

        public Zombie(Extents extents) {
            this.extents = extents;
        }
    }

    private volatile Zombie[] zombies = NONE; // replaced under the lock, never changed

    /** Returns whether there are none, which is nearly always so. */
    public boolean isEmpty() {
        // A transfer that sees none may race with a cancel on another thread; then neither came later than the other.
        // A cancel that happened before this transfer's subscription added its zombie before, and is seen.
        return zombies.length == 0;
    }

    /** Returns those that there are now. */
    public List<Zombie> all() {
        return List.of(zombies);
    }

    /**
     * Adds a zombie, unless it is there, or has been removed already: the device may be done with a transfer while its
     * cancel is on the way here. To be called inside {@code cancel}, not later on a lane.
     */
    public synchronized void add(Zombie zombie) {
        Zombie[] old = zombies;
        if (zombie.ended || Arrays.asList(old).contains(zombie)) {
            return;
        }
        Zombie[] grown = Arrays.copyOf(old, old.length + 1);
        grown[old.length] = zombie;
        zombies = grown;
    }

    /** Ends a zombie, when the device has let go; resumes those who wait behind it. A second call does nothing. */
    public void remove(Zombie zombie) {
        List<Runnable> resumed;
        synchronized (this) {
            if (zombie.ended) {
                return;
            }
            zombie.ended = true;
            List<Zombie> left = new ArrayList<>(List.of(zombies));
            left.remove(zombie);
            zombies = left.isEmpty() ? NONE : left.toArray(NONE);
            resumed = List.copyOf(zombie.waiters);
            zombie.waiters.clear();
        }
        resumed.forEach(Runnable::run);
    }

    /** Returns a zombie that touches what these extents touch, or null. */
    @Nullable
    public Zombie overlapping(Extents extents) {
        for (Zombie zombie : zombies) {
            if (zombie.extents.conflicts(extents)) {
                return zombie;
            }
        }
        return null;
    }

    /**
     * Has {@code resume} called when a zombie ends that touches what these extents touch; ask again then, since there
     * may be another.
     *
     * @return false, and nothing will be called, if there is none
     */
    public synchronized boolean waitsBehind(Extents extents, Runnable resume) {
        Zombie zombie = overlapping(extents); // the look and the wait are one: it cannot end in between
        return zombie != null && zombie.waiters.add(resume);
    }
}
