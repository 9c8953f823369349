// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a native queue under test, by tag, and how each ended: what the engine is to a queue. A request that
 * ends twice fails the test.
 *
 * <p><b>Threading:</b> the thread that turns the queue.
 */
public final class Requests implements Request.Completion {

    private final Map<Integer, Request> requests = new HashMap<>();
    private final Map<Integer, Long> moved = new HashMap<>();
    private final Map<Integer, NativeFailure> failures = new HashMap<>();
    private final List<Integer> order = new ArrayList<>();

    /** Makes the requests of one queue. */
    public Requests() {}

    /** Returns the request of a tag, to be described and enqueued; how it ended before is forgotten. */
    public Request next(int tag) {
        forget(tag);
        return of(tag);
    }

    /** Returns the request of a tag as it is. */
    public Request of(int tag) {
        return requests.computeIfAbsent(tag, key -> new Request(key, this));
    }

    /** Forgets how the request of a tag has ended. */
    public void forget(int tag) {
        moved.remove(tag);
        failures.remove(tag);
    }

    @Override
    public void ended(Request request, long bytes, @Nullable NativeFailure failure) {
        if (hasEnded(request.tag())) {
            throw new AssertionError("request " + request.tag() + " ends for the second time");
        }
        order.add(request.tag());
        if (failure == null) {
            moved.put(request.tag(), bytes);
        } else {
            failures.put(request.tag(), failure);
        }
    }

    /** Returns the tags of all that have ended, in that order. */
    public List<Integer> order() {
        return order;
    }

    /** Returns how many have ended. */
    public int ended() {
        return moved.size() + failures.size();
    }

    /** Returns whether the request of a tag has ended. */
    public boolean hasEnded(int tag) {
        return moved.containsKey(tag) || failures.containsKey(tag);
    }

    /**
     * Returns the bytes that a request moved, or the native code of its failure, negative.
     *
     * @throws NoSuchElementException if it has not ended
     */
    public long result(int tag) {
        Long bytes = moved.get(tag);
        return bytes != null ? bytes : -failure(tag).orElseThrow().error().code();
    }

    /** Returns why a request failed; empty if it did not. */
    public Optional<NativeFailure> failure(int tag) {
        return Optional.ofNullable(failures.get(tag));
    }
}
