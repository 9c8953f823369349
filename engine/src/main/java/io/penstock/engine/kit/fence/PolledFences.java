// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.fence;

import java.util.ArrayList;
import java.util.List;

/**
 * The fences that one thread polls.
 *
 * <p><b>Threading:</b> that thread.
 */
public final class PolledFences {

    private final List<Watched> fences = new ArrayList<>();

    /** Creates an empty list. */
    public PolledFences() {}

    /** Adds a fence. */
    public void add(Watched fence) {
        fences.add(fence);
    }

    /** Returns how many are not signalled yet. */
    public int size() {
        return fences.size();
    }

    /**
     * Polls each fence once, and removes the signalled fences; returns whether there were any. An exception goes to
     * the thread's handler of uncaught exceptions, and the fence is polled no more.
     */
    public boolean poll() {
        boolean any = false;
        for (int i = fences.size() - 1; i >= 0; i--) { // a subscriber may add one
            if (poll(fences.get(i))) {
                fences.remove(i);
                any = true;
            }
        }
        return any;
    }

    private static boolean poll(Watched fence) {
        try {
            return fence.poll();
        } catch (RuntimeException | Error e) { // possibly out of its subscribers
            Thread current = Thread.currentThread();
            current.getUncaughtExceptionHandler().uncaughtException(current, e);
            return true;
        }
    }
}
