// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Serializes transfers with equal order keys, in the order in which they entered. One per backend.
 *
 * <p><b>Threading:</b> thread-safe. A waiter runs on the thread whose turn ended, outside the lock; it should only
 * post.
 */
public final class OrderKeys {

    /** A transfer's position in the queue of its key. */
    public static final class Turn {

        private final Key key;
        private @Nullable Runnable waiter; // null once it runs or has left
        private boolean first;
        private @Nullable Line line;

        /**
         * Creates a turn. Calls {@code hashCode} of the key here, on the subscriber's thread, and never on an I/O queue
         * (rule 302).
         */
        public Turn(Object key, Runnable waiter) {
            this.key = new Key(key, key.hashCode());
            this.waiter = waiter;
        }
    }

    /** A key with its hash; {@code equals} calls the application's only if the full hashes are equal. */
    private record Key(Object value, int hash) {

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key that && hash == that.hash && (value == that.value || value.equals(that.value));
        }
    }

    /** The waiters of one key. Of equal keys it has the map's, which is found without the application's equals. */
    private record Line(Key key, ArrayDeque<Turn> turns) {}

    private final Map<Key, Line> lines = new HashMap<>(); // the first of a line is running

    /** Returns true if the transfer may run now; otherwise its waiter is called when it may. */
    public synchronized boolean enter(Turn turn) {
        Line line = lines.computeIfAbsent(turn.key, k -> new Line(k, new ArrayDeque<>(2)));
        turn.line = line;
        line.turns.add(turn);
        turn.first = line.turns.size() == 1;
        if (turn.first) {
            turn.waiter = null;
        }
        return turn.first;
    }

    /** Ends a turn, or stops waiting for it; a second call does nothing. Never both waits and calls the waiter. */
    public void leave(Turn turn) {
        Runnable next = null;
        synchronized (this) {
            turn.waiter = null;
            if (turn.first) {
                turn.first = false;
                next = advance(Objects.requireNonNull(turn.line, "only a queued turn can advance"));
            }
            // A turn that stops waiting stays in the queue, empty, until it would be first: cancelling a long queue
            // stays linear.
        }
        if (next != null) {
            next.run();
        }
    }

    private @Nullable Runnable advance(Line of) {
        ArrayDeque<Turn> line = of.turns;
        line.remove();
        for (Turn turn = line.peek(); turn != null; turn = line.peek()) {
            Runnable waiter = turn.waiter;
            if (waiter != null) {
                turn.first = true;
                turn.waiter = null;
                return waiter;
            }
            line.remove();
        }
        lines.remove(of.key);
        return null;
    }

    /** Returns the number of keys in use. */
    public synchronized int size() {
        return lines.size();
    }
}
