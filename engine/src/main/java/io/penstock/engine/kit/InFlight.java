// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is in flight on a device that must be polled, in the order of submission. What has ended is completed in that
 * order too, and nothing seems to end before another that it waited for on the device: the last is polled first.
 *
 * <p><b>Threading:</b> one thread.
 *
 * @param <T> copies, commands, or groups of them
 */
public final class InFlight<T> {

    private final Predicate<? super T> hasEnded;
    private final Consumer<? super T> complete;
    private final List<T> all = new ArrayList<>();
    private final ArrayDeque<T> ended = new ArrayDeque<>(); // found, and not completed yet

    /**
     * Creates an empty list.
     *
     * @param hasEnded polls one, and returns whether it has ended
     * @param complete handles those that have; may call {@link #add}
     */
    public InFlight(Predicate<? super T> hasEnded, Consumer<? super T> complete) {
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

    /** Returns what was submitted first; null if there is nothing. */
    public @Nullable T first() {
        return all.isEmpty() ? null : all.get(0);
    }

    /** Polls, and completes those that have ended. */
    public void poll() {
        look(false);
        complete();
    }

    /**
     * Polls; {@link #complete} completes those that have ended.
     *
     * @param inOrder whether they end in the order of submission: none behind one that has not ended is polled then
     */
    public void look(boolean inOrder) {
        if (inOrder) {
            while (!all.isEmpty() && hasEnded.test(all.get(0))) {
                ended.add(all.remove(0));
            }
            return;
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            T one = all.get(i);
            if (hasEnded.test(one)) {
                all.remove(i);
                ended.addFirst(one);
            }
        }
    }

    /** Completes those that were found to have ended; returns whether there were any. */
    public boolean complete() {
        boolean any = !ended.isEmpty();
        for (T one = ended.poll(); one != null; one = ended.poll()) {
            complete.accept(one);
        }
        return any;
    }
}
