// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.remote.RemoteProvider;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ranges: each by one thread on a connection that is kept for the next, and again if the connection fails or the server is
 * busy, from where it had come to.
 *
 * <p><b>Threading:</b> thread-safe. A thread blocks in its connection; there are as many as ranges are read at once.
 */
final class RangeReader {

    private static final Logger LOG = LoggerFactory.getLogger(RangeReader.class);

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 10_000;
    private static final int KEEP_SECONDS = 10;

    private final int attempts;
    private final int timeoutMillis;
    private final ThreadPoolExecutor threads;
    private final Map<Connection.Origin, ArrayDeque<Connection>> idle = new HashMap<>(); // guarded by this
    private boolean closed; // guarded by this

    RangeReader(int connections, int attempts, int timeoutMillis) {
        this.attempts = attempts;
        this.timeoutMillis = timeoutMillis;
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                connections, connections, KEEP_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), body -> {
                    Thread thread = new Thread(null, body, "penstock-http-" + number.getAndIncrement(), 0, false);
                    thread.setDaemon(true);
                    thread.setContextClassLoader(null); // keeps no application's class loader alive
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    /** Requests the first byte of a file; blocks. */
    ResponseHead first(URI uri) throws IOException {
        Attempts made = new Attempts(RemoteProvider.name(uri));
        while (true) {
            boolean used = false;
            try (Connection connection =
                    take(Connection.Origin.of(uri))) { // not kept: the rest of another answer may follow
                used = connection.isUsed();
                ResponseHead head = connection.request(request(uri, 0, 1, ""));
                NativeFailure failure = head.failure("");
                if (failure.kind() != NativeFailure.Kind.TRANSIENT) {
                    return head;
                }
                made.failed(failure, head.retryAfterSeconds());
            } catch (NativeException e) {
                throw e;
            } catch (IOException e) {
                if (!used) {
                    made.failed(broken(e), -1);
                }
            }
            made.pause(null);
        }
    }

    /** Starts to read a range; as {@link io.penstock.engine.spi.AsyncFile#read}. */
    Runnable read(HttpFile file, long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        RangeRead read = new RangeRead(file, offset, to, ended);
        try {
            threads.execute(read);
        } catch (RuntimeException | OutOfMemoryError e) { // no thread can be started
            NativeError error = new NativeError("thread", 0, e.toString());
            read.ended(new NativeException("GET of " + file, new NativeFailure(error, NativeFailure.Kind.TRANSIENT)));
        }
        return read::end;
    }

    private static String request(URI uri, long from, long bytes, String conditions) {
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        return "GET " + path + query + " HTTP/1.1\r\nHost: " + uri.getHost() + port + "\r\nRange: bytes=" + from + "-"
                + (from + bytes - 1) + "\r\nAccept-Encoding: identity\r\nUser-Agent: penstock\r\n" + conditions
                + "\r\n";
    }

    private Connection take(Connection.Origin origin) throws IOException {
        synchronized (this) {
            ArrayDeque<Connection> kept = idle.get(origin);
            Connection connection = kept == null ? null : kept.pollLast();
            if (connection != null) {
                return connection;
            }
        }
        return Connection.open(origin, timeoutMillis);
    }

    private void keep(Connection connection) {
        synchronized (this) {
            if (!closed) {
                idle.computeIfAbsent(connection.origin(), origin -> new ArrayDeque<>())
                        .add(connection);
                return;
            }
        }
        connection.close();
    }

    private static NativeFailure broken(IOException e) {
        return new NativeFailure(new NativeError("GET", 0, e.toString()), NativeFailure.Kind.TRANSIENT);
    }

    /** Closes the connections, when no range is being read. */
    void close() {
        threads.shutdown();
        synchronized (this) {
            closed = true;
            idle.values().forEach(kept -> kept.forEach(Connection::close));
            idle.clear();
        }
    }

    /** The attempts at one request, with growing pauses between them. */
    private final class Attempts {

        private final String name;
        private int failed;
        private long pauseMillis;

        Attempts(String name) {
            this.name = name;
        }

        /** Counts from the start again. */
        void progress() {
            failed = 0;
        }

        /**
         * Counts a failed attempt.
         *
         * @throws NativeException if it was the last
         */
        void failed(NativeFailure failure, long retryAfterSeconds) throws NativeException {
            failed++;
            if (failed >= attempts) {
                throw new NativeException(
                        "GET of " + name,
                        new NativeFailure(
                                failure.error(),
                                failure.kind(),
                                "after " + failed + (failed == 1 ? " attempt" : " attempts")));
            }
            LOG.debug("attempt {} at {} failed: {}", failed, name, failure);
            long doubled = FIRST_PAUSE_MILLIS << Math.min(failed - 1, 10);
            long jittered = doubled / 2 + ThreadLocalRandom.current().nextLong(doubled);
            pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, Math.max(jittered, retryAfterSeconds * 1000));
        }

        /** Waits as long as the last failure asks for, or until a read is ended. */
        void pause(@Nullable RangeRead read) throws IOException {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
            pauseMillis = 0;
            Object monitor = read == null ? this : read;
            synchronized (monitor) {
                for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                    if (read != null && read.ending) {
                        return;
                    }
                    try {
                        TimeUnit.NANOSECONDS.timedWait(monitor, left);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new IOException("interrupted between two attempts", e);
                    }
                }
            }
        }
    }

    private final class RangeRead implements Runnable {

        private final HttpFile file;
        private final long offset;
        private final ByteBuffer to;
        private final int start;
        private final Consumer<@Nullable Throwable> ended;
        private boolean filling; // a thread uses the memory; guarded by this, as all below
        private boolean ending;
        private boolean over;
        private @Nullable Connection connection; // while it fills the memory

        RangeRead(HttpFile file, long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
            this.file = file;
            this.offset = offset;
            this.to = to;
            this.start = to.position();
            this.ended = ended;
        }

        /**
         * Ends it early: at once if no thread uses the memory, though one may still connect, else by that thread, which finds its
         * connection closed.
         */
        void end() {
            Connection open;
            synchronized (this) {
                ending = true;
                open = connection;
                notifyAll();
            }
            threads.remove(this);
            if (open == null) {
                ended(new CancellationException());
            } else {
                open.close();
            }
        }

        /** Signals the end, unless it was signalled before. */
        void ended(@Nullable Throwable error) {
            synchronized (this) {
                if (over || filling) {
                    return;
                }
                over = true;
            }
            ended.accept(error); // no thread uses the memory any more, nor will
        }

        /** Takes the memory for a connection; returns false if the read is to end. */
        private synchronized boolean fill(Connection by) {
            if (ending) {
                return false;
            }
            connection = by;
            filling = true;
            return true;
        }

        private synchronized boolean filled() {
            connection = null;
            filling = false;
            return !ending;
        }

        private synchronized boolean isEnding() {
            return ending;
        }

        @Override
        public void run() {
            Throwable error = null;
            try {
                attempts();
            } catch (Throwable e) {
                error = isEnding() ? new CancellationException() : e;
            }
            ended(error);
        }

        private void attempts() throws IOException {
            Attempts made = new Attempts(file.toString());
            while (to.hasRemaining()) {
                if (isEnding()) {
                    throw new ClosedChannelException();
                }
                int before = to.position();
                boolean used = false;
                try {
                    Connection taken = take(Connection.Origin.of(file.uri()));
                    used = taken.isUsed();
                    attempt(taken, made);
                } catch (NativeException e) {
                    throw e;
                } catch (IOException e) {
                    if (isEnding()) {
                        throw e;
                    }
                    if (to.position() > before) {
                        made.progress();
                    }
                    if (!used || to.position() > before) { // a kept connection may have been closed by the server
                        made.failed(broken(e), -1);
                    }
                }
                made.pause(this);
            }
        }

        /** Reads the rest on one connection, or counts a failed attempt. */
        private void attempt(Connection taken, Attempts made) throws IOException {
            if (!fill(taken)) {
                keep(taken);
                throw new ClosedChannelException();
            }
            boolean keeps = false;
            try {
                long from = offset + to.position() - start;
                int bytes = to.remaining();
                ResponseHead head = taken.request(
                        request(file.uri(), from, bytes, file.version().conditions()));
                NativeFailure refusal = file.refusal(head, from, bytes);
                if (refusal == null) {
                    taken.body(to);
                    keeps = head.keepsConnection();
                } else if (refusal.kind() == NativeFailure.Kind.TRANSIENT) {
                    made.failed(refusal, head.retryAfterSeconds());
                } else {
                    throw new NativeException("GET of " + file, refusal);
                }
            } finally {
                if (filled() && keeps) {
                    keep(taken);
                } else {
                    taken.close();
                }
            }
        }
    }
}
