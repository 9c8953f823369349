// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a stream that its subscriber polls, at most as many as it has requested.
 *
 * <p><b>Threading:</b> any thread for any method. An element belongs to the queue until one thread removes it: to the
 * subscriber then, or to the hook that discards it. None stays after a cancel: an adder adds and then reads
 * {@code cancelled}, a cancel writes it and then removes, so that one of them finds the element.
 */
final class FusedElements<T> {

    private final Queue<T> elements = new ConcurrentLinkedQueue<>();
    private final Consumer<? super T> discard;
    private volatile boolean cancelled;

    FusedElements(Consumer<? super T> discard) {
        this.discard = discard;
    }

    void add(T element) {
        elements.add(element);
        if (cancelled) {
            clear();
        }
    }

    /** Returns the next element; null if there is none, or its subscriber has cancelled. */
    @Nullable
    T poll() {
        return cancelled ? null : elements.poll();
    }

    int size() {
        return elements.size();
    }

    /** Discards all elements. */
    void clear() {
        for (T element = elements.poll(); element != null; element = elements.poll()) {
            discard.accept(element);
        }
    }

    /** Discards all elements, and elements that are added later. */
    void cancel() {
        cancelled = true;
        clear();
    }
}
