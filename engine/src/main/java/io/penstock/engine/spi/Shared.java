// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reference-counted values, at most one for each key: a value is opened for its first user and closed when its last
 * user leaves. A device's context, a driver and a registered file are such values.
 *
 * <p><b>Threading:</b> thread-safe. Opener and closer run without a lock: they may block, and may use other keys. While
 * the value of a key is being opened or closed, {@link #open} of that key blocks; nothing else does. What a user does
 * before it leaves happens-before the close, and a close happens-before the next open of its key.
 *
 * <p><b>Errors:</b> if an opener throws, the key has no value, and a thread that waited for it calls its own opener. If
 * the closer throws, the value counts as closed.
 *
 * <p><b>Ownership:</b> each {@link #open} and each {@link #join} that returns is paired with one {@link #leave}.
 *
 * @param <K> the keys, compared by {@code equals}
 * @param <V> the values, compared by identity
 */
public final class Shared<K, V> {

    /** Opens the value of a key. */
    @FunctionalInterface
    public interface Opener<V, X extends Exception> {

        /** Returns a new value. */
        V open() throws X;
    }

    /** The value of a key. */
    private static final class Entry<K, V> {
        final K key;

        @Nullable
        V value; // set once it is open

        int users;

        @Nullable
        Thread busy = Thread.currentThread(); // opens or closes it, while users is 0

        Entry(K key) {
            this.key = key;
        }
    }

    // Guarded by this, as all entries are. The monitor gives the promised order. An opener's writes precede the end of
    // open(), which publishes the value; each open() and join() that counts a user comes after that. Each user's writes
    // precede its leave(); the last leave(), and with it the close, comes after the writes of all others. The close
    // precedes remove(), and only after that does open() find the key free.
    private final Map<K, Entry<K, V>> byKey = new HashMap<>();
    private final IdentityHashMap<V, Entry<K, V>> byValue = new IdentityHashMap<>(); // values with users

    private final Consumer<? super V> closer;

    /**
     * Creates a registry without values.
     *
     * @param closer closes a value whose last user has left
     */
    public Shared(Consumer<? super V> closer) {
        this.closer = closer;
    }

    /**
     * Returns the value of a key, with one more user; opens it if it has none.
     *
     * @param <X> what the opener throws
     * @throws X if the opener does; then there is no user to leave
     * @throws IllegalStateException if this thread is opening or closing the value of this key
     */
    public <X extends Exception> V open(K key, Opener<? extends V, X> opener) throws X {
        Entry<K, V> entry = claim(key);
        V known = entry.value;
        if (known != null) {
            return known;
        }
        try {
            V made = opener.open();
            synchronized (this) {
                entry.value = made;
                entry.users = 1;
                entry.busy = null;
                byValue.put(made, entry);
                notifyAll();
            }
            return made;
        } finally {
            if (entry.value == null) {
                remove(entry);
            }
        }
    }

    /** Counts a user of the key's value, or reserves the key for this thread, which then opens the value. */
    private synchronized Entry<K, V> claim(K key) {
        boolean interrupted = false;
        try {
            while (true) {
                Entry<K, V> entry = byKey.get(key);
                if (entry == null) {
                    Entry<K, V> reserved = new Entry<>(key);
                    byKey.put(key, reserved);
                    return reserved;
                }
                if (entry.users > 0) {
                    entry.users++;
                    return entry;
                }
                if (entry.busy == Thread.currentThread()) {
                    throw new IllegalStateException(key + " must not be opened by its own opener or closer");
                }
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true; // an open or close in progress will end
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized void remove(Entry<K, V> entry) {
        byKey.remove(entry.key);
        notifyAll();
    }

    /**
     * Counts one more user of a value.
     *
     * @throws IllegalStateException if it has no user
     */
    public synchronized void join(V value) {
        entry(value).users++;
    }

    /**
     * Counts one user less. The last user's call closes the value, and returns when that is done.
     *
     * @return whether this call has closed it
     * @throws IllegalStateException if it has no user
     */
    public boolean leave(V value) {
        Entry<K, V> entry;
        synchronized (this) {
            entry = entry(value);
            if (--entry.users > 0) {
                return false;
            }
            byValue.remove(value);
            entry.busy = Thread.currentThread();
        }
        try {
            closer.accept(value);
        } finally {
            remove(entry);
        }
        return true;
    }

    private Entry<K, V> entry(V value) {
        Entry<K, V> entry = byValue.get(value);
        if (entry == null) {
            throw new IllegalStateException(value + " has no user");
        }
        return entry;
    }

    /**
     * Returns the value of a key, with one more user, or null if it has none now; opens nothing, and does not block.
     */
    public synchronized @Nullable V find(K key) {
        Entry<K, V> entry = byKey.get(key);
        if (entry == null || entry.users == 0) {
            return null;
        }
        entry.users++;
        return entry.value;
    }

    /** Returns the values that have users now, without counting the caller: a value may be closed at any time. */
    public synchronized List<V> values() {
        return new ArrayList<>(byValue.keySet());
    }

    /** Returns how many keys have a value, or one that is being opened or closed. */
    public synchronized int size() {
        return byKey.size();
    }
}
