// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.spi.NativeFile;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Files in whose calls threads hang that were staging workers: no other staging worker is to call them, and their
 * requests give way to others until these calls have returned. Thread-safe.
 */
final class HungFiles {

    private final Map<Object, Integer> threads = new ConcurrentHashMap<>(); // that hang, by the identity of the file
    private volatile boolean any; // a read of the map takes longer

    boolean has(NativeFile file) {
        return any && threads.containsKey(file.identity());
    }

    /** Counts a thread that hangs. */
    void add(NativeFile file) {
        threads.merge(file.identity(), 1, Integer::sum);
        any = true;
    }

    /** Counts one less; returns whether none is left, so that {@link #has} is false. */
    boolean remove(NativeFile file) {
        return threads.computeIfPresent(file.identity(), (key, count) -> count == 1 ? null : count - 1) == null;
    }

    /** Returns how many threads hang. */
    int count() {
        return threads.values().stream().mapToInt(Integer::intValue).sum();
    }
}
