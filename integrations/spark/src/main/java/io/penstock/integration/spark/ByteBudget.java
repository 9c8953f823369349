// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * The limit of the bytes that the tasks of an executor have in flight. Permits are granted first come, first served.
 */
final class ByteBudget {

    private static final int UNIT = 4096; // so that permits, which are ints, are enough for 8 TiB

    private final long bytes;
    private final Semaphore units;
    private final Map<Object, Long> held = new ConcurrentHashMap<>(); // by task
    private final LongAdder waited = new LongAdder();

    ByteBudget(long bytes) {
        if (bytes < UNIT || bytes / UNIT > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("bytes in flight must be at least " + UNIT + " and at most "
                    + (long) UNIT * Integer.MAX_VALUE + ", were " + bytes);
        }
        this.bytes = bytes;
        this.units = new Semaphore((int) (bytes / UNIT), true);
    }

    long bytes() {
        return bytes;
    }

    long available() {
        return (long) units.availablePermits() * UNIT;
    }

    /** Returns how long all tasks together have waited, in nanoseconds. */
    long waited() {
        return waited.sum();
    }

    /**
     * Waits until as many bytes are free, and takes them until the result is disposed of.
     *
     * @throws IllegalArgumentException if they are more than the whole budget
     * @throws IllegalStateException if they are, with what the calling task has already: it would wait for itself
     */
    Disposable acquire(long wanted) throws InterruptedException {
        return acquire(wanted, TaskContext.get());
    }

    Disposable acquire(long wanted, @Nullable Object task) throws InterruptedException {
        if (wanted > bytes) {
            throw new IllegalArgumentException("chunks of a task must have at most " + bytes
                    + " bytes together, the value of " + ExecutorBackend.IN_FLIGHT + ", had " + wanted);
        }
        int count = (int) Math.min((wanted + UNIT - 1) / UNIT, bytes / UNIT);
        if (task == null) {
            return acquire(count);
        }
        long before = held.getOrDefault(task, 0L);
        if (before + (long) count * UNIT > bytes / UNIT * UNIT) {
            throw new IllegalStateException("a task must have at most " + bytes + " bytes in flight, the value of "
                    + ExecutorBackend.IN_FLIGHT + ", had " + before
                    + " of rows or chunks that it has not taken to their end, and wanted " + wanted + " more");
        }
        Disposable permit = acquire(count);
        held.merge(task, (long) count * UNIT, Long::sum);
        return Disposables.composite(
                permit,
                () -> held.computeIfPresent(
                        task, (key, sum) -> sum == (long) count * UNIT ? null : (Long) (sum - (long) count * UNIT)));
    }

    private Disposable acquire(int count) throws InterruptedException {
        long started = System.nanoTime();
        try {
            units.acquire(count);
        } finally {
            waited.add(System.nanoTime() - started);
        }
        return Disposables.composite(() -> units.release(count)); // at most once
    }
}
