// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.remote.HostAndPort;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Shared;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads ranges: each by one thread, on a connection that is kept for the next range. If the connection fails or the
 * server is busy, the rest of the range is requested again.
 *
 * <p><b>Threading:</b> thread-safe. A thread blocks in its connection: there is one for each range that is being read.
 */
final class RangeReader {

    private static final int KEEP_SECONDS = 10;
    private static final int PROGRESS_BYTES = 64 << 10;
    private static final int PROGRESS_PARTS = 16; // of a range that is short
    private static final int SHORT_BYTES = 1 << 10; // of an answer that has less than was requested

    private static final Shared<Settings, RangeReader> READERS = new Shared<>(RangeReader::close);

    /** Files of one server that were opened with the same options share a reader; a silent server delays no other. */
    private record Settings(Origin origin, int connections, int attempts, int timeoutMillis, Trust trust) {}

    /** The head of a response, the failure that it is unless it has the range, and its body if that is a document. */
    record Answer(ResponseHead head, NativeFailure failure, String document) {}

    private final Origin first;
    private final int attempts;
    private final int timeoutMillis;
    private final Trust trust;
    private final ThreadPoolExecutor threads;
    private final Map<Origin, ArrayDeque<Connection>> idle = new HashMap<>(); // guarded by this
    private boolean closed; // guarded by this

    private RangeReader(Settings settings) {
        first = settings.origin;
        attempts = settings.attempts;
        timeoutMillis = settings.timeoutMillis;
        trust = settings.trust;
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                settings.connections,
                settings.connections,
                KEEP_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                body -> new DaemonThread("penstock-http-" + number.getAndIncrement(), body));
        threads.allowCoreThreadTimeOut(true);
    }

    /** Returns the reader of all files of a server that were opened with these options. The caller leaves it. */
    static RangeReader open(Resource resource, Options options) {
        long timeoutMillis = options.get(CommonOptions.REMOTE_TIMEOUT).toMillis();
        Settings settings = new Settings(
                Origin.of(resource.uri()),
                options.get(CommonOptions.REMOTE_CONNECTIONS),
                options.get(CommonOptions.REMOTE_ATTEMPTS),
                (int) Math.min(Integer.MAX_VALUE, Math.max(1, timeoutMillis)),
                Trust.of(options));
        return READERS.open(settings, () -> new RangeReader(settings));
    }

    /** Releases this for one file, none of whose ranges is being read. */
    void leave() {
        READERS.leave(this);
    }

    /**
     * Requests the first bytes of a file; blocks.
     *
     * @param ranged whether as a range
     */
    Answer first(Resource resource, boolean ranged, Requester by) throws IOException {
        return answer(resource, ranged ? HttpFile.FIRST_BYTES : 0, 0, by);
    }

    /** Requests all of a document of at most {@code most} bytes; blocks. */
    Answer document(Resource resource, int most) throws IOException {
        return answer(resource, 0, most, new Requester());
    }

    /** Requests the head of a resource whose method is HEAD; blocks. */
    ResponseHead head(Resource resource) throws IOException {
        return answer(resource, 0, 0, new Requester()).head();
    }

    /** @param bytes of the range; 0 for all of it */
    private Answer answer(Resource resource, int bytes, int most, Requester by) throws IOException {
        Attempts made = new Attempts(resource, attempts);
        while (true) {
            boolean used = false;
            String request = request(resource, 0, bytes, Map.of());
            try {
                Connection connection = take(resource, by);
                used = connection.isUsed();
                Answer answer = answer(resource, connection, request, most, by);
                if (answer.failure.kind() != NativeFailure.Kind.TRANSIENT) {
                    return answer;
                }
                made.failed(answer.failure, answer.head.retryAfterSeconds());
            } catch (NativeException e) {
                throw e;
            } catch (IOException e) {
                if (by.isEnding()) {
                    throw e;
                }
                if (used) {
                    dropKept(resource);
                }
                if (!used || e instanceof SocketTimeoutException) {
                    failed(made, resource, e);
                }
            }
            made.pause(by, by::isEnding);
        }
    }

    /** Counts a failed attempt; the last one that met the limit of open files fails as the opening of a file does. */
    private static void failed(Attempts made, Resource resource, IOException e) throws NativeException {
        try {
            made.failed(resource.broken(e), -1);
        } catch (NativeException last) {
            RuntimeException limit = HostFailure.ofLimit(resource, e);
            if (limit != null) {
                throw limit;
            }
            throw last;
        }
    }

    private Answer answer(Resource resource, Connection connection, String request, int most, Requester by)
            throws IOException {
        boolean keeps = false; // not if the rest of another answer may follow
        try {
            by.uses(connection);
            ResponseHead head = connection.request(request);
            boolean bodiless = resource.method().equals("HEAD");
            NativeFailure failure = resource.failure(head, () -> bodiless ? "" : connection.text(head));
            keeps = bodiless && head.keepsConnection();
            long bytes = head.status() == 206 ? head.bytesOf(0, HttpFile.FIRST_BYTES) : -1;
            if (bytes > 0) {
                connection.body(ByteBuffer.allocate((int) bytes));
                keeps = head.keepsConnection() && connection.end();
            }
            boolean document = most > 0 && head.status() == 200;
            return new Answer(head, failure, document ? connection.all(head, most) : "");
        } finally {
            by.leaves();
            release(connection, keeps && !by.isEnding());
        }
    }

    /** Starts to read a range; as {@link io.penstock.engine.spi.AsyncFile#read}. */
    Runnable read(HttpFile file, long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        RangeRead read = new RangeRead(file, offset, to, ended);
        Consumer<Throwable> refused = // no thread can be started
                e -> read.ended(file.resource().failed(file.resource().broken(e)));
        InOrder inOrder = file.inOrder();
        if (inOrder != null) {
            inOrder.add(offset, read, refused, threads);
            return read::end;
        }
        try {
            threads.execute(read);
        } catch (RuntimeException | OutOfMemoryError e) {
            refused.accept(e);
        }
        return read::end;
    }

    /** @param bytes of the range; 0 for the whole file */
    private static String request(Resource resource, long from, long bytes, Map<String, String> conditions)
            throws IOException {
        URI uri = resource.uri();
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Host", String.valueOf(HostAndPort.of(uri)));
        if (bytes > 0) {
            headers.put("Range", "bytes=" + from + "-" + (from + bytes - 1));
        }
        headers.putAll(conditions);
        StringBuilder request = new StringBuilder(resource.method() + " " + Resource.target(uri) + " HTTP/1.1\r\n");
        resource.signed(headers)
                .forEach((name, value) ->
                        request.append(name).append(": ").append(value).append("\r\n"));
        return request.append("Accept-Encoding: identity\r\nUser-Agent: penstock\r\n\r\n")
                .toString();
    }

    private Connection take(Resource resource, Requester by) throws IOException {
        Origin origin = Origin.of(resource.uri());
        synchronized (this) {
            ArrayDeque<Connection> kept = idle.get(origin);
            Connection connection = kept == null ? null : kept.pollLast();
            if (connection != null) {
                return connection;
            }
        }
        Trust shown = origin.equals(first) ? trust : trust.withoutIdentity(); // where a redirection led gets no secret
        return Connection.open(origin, new Route(HttpProxy.of(resource.uri()), shown, timeoutMillis), by);
    }

    /** Keeps a connection for the next request, or closes it. */
    private void release(Connection connection, boolean keeps) {
        synchronized (this) {
            if (keeps && !closed) {
                idle.computeIfAbsent(connection.origin(), origin -> new ArrayDeque<>())
                        .add(connection);
                return;
            }
        }
        connection.close();
    }

    /** Closes the connections that are kept: if one has failed, the others mostly have too. */
    private void dropKept(Resource resource) {
        ArrayDeque<Connection> kept;
        synchronized (this) {
            kept = idle.remove(Origin.of(resource.uri()));
        }
        if (kept != null) {
            kept.forEach(Connection::close);
        }
    }

    /** Closes the connections, when no range is being read. */
    private void close() {
        threads.shutdown();
        synchronized (this) {
            closed = true;
            idle.values().forEach(kept -> kept.forEach(Connection::close));
            idle.clear();
        }
    }

    /** Thrown where a redirection led refuses, and the first URI may lead elsewhere by now. */
    private static final class ExpiredException extends IOException {

        private static final long serialVersionUID = 1L;
    }

    private final class RangeRead extends Requester implements Runnable {

        private final HttpFile file;
        private final long offset;
        private final ByteBuffer to;
        private final int start;
        private final Consumer<@Nullable Throwable> ended;
        private boolean filling; // whether a thread uses the memory; guarded by this, as all below
        private boolean over; // signalled
        private int counted; // where attempts began to count; of the thread that reads, as all below
        private int expired = -1; // where a redirection was found to have expired
        private final int least; // bytes that are progress

        RangeRead(HttpFile file, long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
            this.file = file;
            this.offset = offset;
            this.to = to;
            this.start = to.position();
            this.counted = start;
            this.least = Math.min(PROGRESS_BYTES, to.remaining() / PROGRESS_PARTS);
            this.ended = ended;
        }

        /**
         * Ends it early: at once if no thread uses the memory, though one may still connect, else by that thread, which
         * finds its connection closed.
         */
        @Override
        void end() {
            super.end();
            threads.remove(this);
            ended(new CancellationException());
        }

        /** Signals the end, unless it was signalled before. */
        void ended(@Nullable Throwable error) {
            synchronized (this) {
                if (over || filling) {
                    return;
                }
                over = true;
            }
            ended.accept(error); // from here on no thread uses the memory
        }

        private synchronized boolean filled() {
            leaves();
            filling = false;
            return !isEnding();
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
            Attempts made = new Attempts(file.resource(), attempts);
            while (to.hasRemaining()) {
                if (isEnding()) {
                    throw new ClosedChannelException();
                }
                Resource resource = file.resource();
                try {
                    attempt(resource, made);
                } catch (ExpiredException e) {
                    expired = to.position();
                    file.findAgain(resource, this);
                }
                made.pause(this, this::isEnding);
            }
            begin();
            try {
                file.resource().received(offset, to.duplicate().flip().position(start));
            } finally {
                filled();
            }
        }

        /** Makes one attempt, which counts if it fails, unless it has made progress. */
        private void attempt(Resource resource, Attempts made) throws IOException {
            int before = to.position();
            long from = offset + before - start;
            InOrder inOrder = file.inOrder();
            String request = request(
                    resource,
                    from,
                    inOrder == null ? to.remaining() : 0,
                    file.version().conditions());
            boolean used = false;
            try {
                Connection open = inOrder == null ? null : inOrder.take(from);
                Connection taken = open == null ? take(resource, this) : open;
                used = taken.isUsed();
                if (inOrder == null) {
                    attempt(taken, request, from, made);
                } else if (inOrder.again() > attempts) {
                    taken.close();
                    throw file.passed(from);
                } else {
                    attempt(inOrder, taken, open == null ? request : null, made);
                }
            } catch (NativeException | ExpiredException e) {
                throw e;
            } catch (IOException e) {
                if (isEnding()) {
                    throw e;
                }
                boolean moved = to.position() > before;
                if (used && !moved) {
                    dropKept(resource);
                }
                if (moved && to.position() - counted >= least) { // a byte for each attempt is no progress
                    counted = to.position();
                    made.progressed(resource.broken(e));
                } else if (!used || moved || e instanceof SocketTimeoutException) {
                    made.failed(resource.broken(e), -1);
                } // else the server had closed a kept connection, which shows at once
            }
        }

        /** Reads the rest on one connection, or what the server sends of it, or counts a failed attempt. */
        private void attempt(Connection taken, String request, long from, Attempts made) throws IOException {
            int end = to.limit();
            boolean keeps = false;
            begin(taken);
            try {
                int rest = to.remaining();
                ResponseHead head = taken.request(request);
                long bytes = file.bytesOf(head, from, rest);
                if (bytes < 0) {
                    refused(taken, head, from, made);
                    return;
                }
                int before = to.position();
                taken.body(to.limit(before + (int) bytes));
                keeps = head.keepsConnection() && taken.end();
                String damage = bytes < file.size()
                        ? ""
                        : file.resource().damage(head, to.duplicate().position(before));
                if (damage.isEmpty() && bytes < Math.min(rest, SHORT_BYTES)) {
                    damage = "the server sent " + bytes + " of " + rest + " bytes";
                } else if (!damage.isEmpty()) {
                    to.position(before);
                }
                if (damage.isEmpty()) {
                    made.progressed();
                } else {
                    made.failed(file.resource().damaged(head, damage), -1);
                }
            } finally {
                to.limit(end);
                release(taken, filled() && keeps);
            }
        }

        /** Reads the rest from the response that has the whole file; by no request if the response has begun. */
        private void attempt(InOrder inOrder, Connection taken, @Nullable String request, Attempts made)
                throws IOException {
            boolean keeps = false;
            begin(taken);
            try {
                if (request != null) {
                    ResponseHead head = taken.request(request);
                    if (file.bytesOf(head, 0, file.size()) != file.size()) {
                        refused(taken, head, 0, made);
                        return;
                    }
                }
                taken.count(); // since the last read the server was not waited for
                inOrder.skipTo(taken, offset + to.position() - start);
                taken.body(to);
                keeps = true;
            } finally {
                if (filled() && keeps) {
                    inOrder.keep(taken, offset + to.position() - start);
                } else {
                    taken.close();
                }
            }
        }

        /** Uses the memory, unless the read is to end. */
        private synchronized void begin() throws ClosedChannelException {
            if (isEnding()) {
                throw new ClosedChannelException();
            }
            filling = true;
        }

        /** Lends the memory to a connection, unless the read is to end. */
        private void begin(Connection taken) throws IOException {
            try {
                synchronized (this) {
                    uses(taken);
                    filling = true;
                }
            } catch (ClosedChannelException e) {
                taken.close();
                throw e;
            }
        }

        private void refused(Connection taken, ResponseHead head, long from, Attempts made) throws IOException {
            if (file.hasExpired(head) && expired != to.position()) {
                throw new ExpiredException();
            }
            NativeFailure refusal = file.refusal(head, () -> taken.text(head), from, to.remaining(), this);
            if (refusal.kind() != NativeFailure.Kind.TRANSIENT) {
                throw file.resource().failed(refusal);
            }
            made.failed(refusal, head.retryAfterSeconds());
        }
    }
}
