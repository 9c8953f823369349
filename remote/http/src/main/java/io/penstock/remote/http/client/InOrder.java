// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one response from which the reads of a file are served whose server sends no ranges: the first bytes first,
 * one read at a time. What lies between two reads is received and dropped.
 *
 * <p><b>Threading:</b> {@link #add} and {@link #close} on any thread; the rest by the read whose turn it is.
 */
final class InOrder implements AutoCloseable {

    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20); // for a read of the next bytes
    private static final int DROPPED_BYTES = 64 << 10;

    private record Waiting(long offset, Runnable read, Consumer<Throwable> refused) {}

    private final List<Waiting> waiting = new ArrayList<>(); // guarded by this, as all below
    private boolean serving;
    private boolean closed;
    private @Nullable Connection response;
    private long at; // in the file, where the response continues
    private int again; // how often bytes were requested that had passed

    /**
     * Adds a read, which is run when its bytes are the next.
     *
     * @param refused called if no thread can be started for it, nor for others that rely on the same one
     */
    void add(long offset, Runnable read, Consumer<Throwable> refused, Executor threads) {
        synchronized (this) {
            waiting.add(new Waiting(offset, read, refused));
            notifyAll();
            if (serving) {
                return;
            }
            serving = true;
        }
        try {
            threads.execute(this::serve);
        } catch (RuntimeException | OutOfMemoryError e) {
            List<Waiting> all;
            synchronized (this) {
                serving = false;
                all = List.copyOf(waiting);
                waiting.clear();
            }
            all.forEach(added -> added.refused.accept(e));
        }
    }

    private void serve() {
        for (Runnable next = next(); next != null; next = next()) {
            next.run();
        }
    }

    private synchronized @Nullable Runnable next() {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            Waiting first = waiting.stream()
                    .min(Comparator.comparing((Waiting read) -> read.offset < at)
                            .thenComparing(Waiting::offset))
                    .orElse(null);
            long left = end - System.nanoTime();
            if (first == null) {
                serving = false;
                return null;
            }
            if (first.offset == at || left <= 0 || Thread.currentThread().isInterrupted()) {
                waiting.remove(first);
                return first.read;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Takes the response if it has a byte and those behind; null if the file must be requested again. */
    synchronized @Nullable Connection take(long from) {
        Connection taken = response;
        response = null;
        if (taken != null && at > from) {
            again++;
            taken.close();
            taken = null;
        }
        at = taken == null ? 0 : at;
        return taken;
    }

    /** Returns how often bytes were requested that had passed: each time, all before them are sent again. */
    synchronized int again() {
        return again;
    }

    /** Receives the bytes before {@code from}, which no read has requested. */
    void skipTo(Connection taken, long from) throws IOException {
        ByteBuffer dropped = ByteBuffer.allocateDirect(DROPPED_BYTES);
        for (long left = from - at(); left > 0; left -= dropped.limit()) {
            taken.body(dropped.clear().limit((int) Math.min(DROPPED_BYTES, left)));
        }
    }

    private synchronized long at() {
        return at;
    }

    /** Keeps the response for the next read. */
    void keep(Connection taken, long next) {
        synchronized (this) {
            if (!closed) {
                response = taken;
                at = next;
                return;
            }
        }
        taken.close();
    }

    /** Closes the response, when no read runs. */
    @Override
    public synchronized void close() {
        closed = true;
        if (response != null) {
            response.close();
            response = null;
        }
    }
}
