// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The segments in flight of file systems that may wait for a server: a bounded number for each, so that no such server
 * holds up others. I/O queue only.
 *
 * @param <T> a transfer
 */
final class Lanes<T> {

    private static final class Lane<T> {
        int inFlight;
        final ArrayDeque<T> waiting = new ArrayDeque<>();
    }

    private final int depth;
    private final Set<T> held;
    private final Queue<T> runnable;
    private final Map<Object, Lane<T>> lanes = new HashMap<>(); // of all file systems seen, which are few

    /**
     * Creates it for an I/O queue.
     *
     * @param depth the most segments of a lane in flight
     * @param held gets the transfers that wait for others of their lane
     * @param runnable gets those that may go on
     */
    Lanes(int depth, Set<T> held, Queue<T> runnable) {
        this.depth = depth;
        this.held = held;
        this.runnable = runnable;
    }

    /** Returns whether a transfer may start a segment now; otherwise it is held until it may. */
    boolean admit(@Nullable Object key, T transfer) {
        if (key == null || hasRoom(key)) {
            return true;
        }
        Objects.requireNonNull(lanes.get(key)).waiting.add(transfer);
        held.add(transfer);
        return false;
    }

    boolean hasRoom(@Nullable Object key) {
        Lane<T> lane = key == null ? null : lanes.get(key);
        return lane == null || lane.inFlight < depth;
    }

    /** Counts a segment that begins. */
    void enter(@Nullable Object key) {
        if (key != null) {
            lanes.computeIfAbsent(key, unused -> new Lane<>()).inFlight++;
        }
    }

    /** Counts a segment that has ended. */
    void leave(@Nullable Object key) {
        if (key != null) {
            Objects.requireNonNull(lanes.get(key)).inFlight--;
        }
    }

    /**
     * Lets as many transfers go on as their lanes have room for; returns whether there are any. Asked again and again,
     * since one that was let go on may end, and use none of it.
     */
    boolean resume() {
        boolean any = false;
        if (lanes.isEmpty()) {
            return any; // for most I/O queues there are none
        }
        for (Lane<T> lane : lanes.values()) {
            int room = lane.waiting.isEmpty() ? 0 : depth - lane.inFlight;
            while (room > 0 && !lane.waiting.isEmpty()) {
                T next = lane.waiting.remove();
                if (held.remove(next)) { // else it has ended meanwhile
                    runnable.add(next);
                    room--;
                    any = true;
                }
            }
        }
        return any;
    }
}
