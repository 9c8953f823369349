// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The commands in flight on a device, in the order of submission.
 *
 * <p><b>Threading:</b> one thread.
 *
 * @param <T> commands, or groups of them
 */
public final class SsgInFlight<T> {

    private final Predicate<T> hasEnded;
    private final Consumer<T> complete;
    private final List<T> all = new ArrayList<>();
    private final ArrayDeque<T> ended = new ArrayDeque<>(); // the ones that the current poll has found

    /**
     * Creates an empty list.
     *
     * @param hasEnded returns whether one has ended
     * @param complete handles those that have; may call {@link #add}
     */
    public SsgInFlight(Predicate<T> hasEnded, Consumer<T> complete) {
        this.hasEnded = hasEnded;
        this.complete = complete;
    }

    /** Adds what was submitted last. */
    public void add(T submitted) {
        all.add(submitted);
    }

    /** Returns whether there is nothing to poll. */
    public boolean isEmpty() {
        return all.isEmpty();
    }

    /**
     * Polls, last first, and removes and completes those that have ended, in the order of submission: so none seems to
     * end before another that it waited for.
     */
    public void poll() {
        for (int i = all.size() - 1; i >= 0; i--) {
            T one = all.get(i);
            if (hasEnded.test(one)) {
                all.remove(i);
                ended.addFirst(one);
            }
        }
        for (T one = ended.poll(); one != null; one = ended.poll()) {
            complete.accept(one);
        }
    }
}
