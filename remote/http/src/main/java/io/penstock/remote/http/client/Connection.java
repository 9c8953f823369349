// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * One connection to a server, which carries one request at a time.
 *
 * <p><b>Threading:</b> one thread at a time; {@link #close} on any thread, which ends what another one waits for.
 *
 * <p><b>Errors:</b> every method fails with an {@link IOException} if the connection fails, the server is silent for
 * too long, or the connection is closed; it must then be closed.
 */
abstract class Connection implements Closeable {

    static final int MOST_HEAD_BYTES = 32 << 10;
    private static final int MOST_INTERIM = 100; // responses 1xx before the final one
    private static final int MOST_LINE_BYTES = 1 << 10; // before a chunk, or of a trailer

    private final Origin origin;
    private final ByteBuffer ahead = ByteBuffer.allocateDirect(MOST_HEAD_BYTES).flip(); // received and not used yet
    private final Route route;
    private boolean used;
    private boolean delimited; // whether the end of the body shows without the end of the connection
    private boolean chunked;
    private long chunk; // bytes left of it
    private long since = System.nanoTime(); // when the bytes began to be counted
    private int counted;

    Connection(Origin origin, Route route) {
        this.origin = origin;
        this.route = route;
    }

    /** Begins to count anew what the server sends within the time limit. */
    final void count() {
        since = System.nanoTime();
        counted = 0;
    }

    /**
     * Counts received bytes, of which each millisecond must have one: each ends a silence, and could be 29 s after the
     * last.
     */
    final void received(int bytes) throws SocketTimeoutException {
        counted += Math.max(0, bytes);
        if (counted >= route.timeoutMillis()) {
            count();
        } else if (System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(route.timeoutMillis())) {
            throw new SocketTimeoutException(
                    "the server has sent no more than " + counted + " bytes in " + route.timeoutMillis() + " ms");
        }
    }

    /** @param by is told of each socket before it connects */
    static Connection open(Origin origin, Route route, Requester by) throws IOException {
        return origin.secure() ? new SecureConnection(origin, route, by) : new Plain(origin, route, by);
    }

    final Origin origin() {
        return origin;
    }

    /** Returns whether it has carried a request: the server may have closed it since. */
    final boolean isUsed() {
        return used;
    }

    /** Sends a request without a body, and receives the head of its response. */
    final ResponseHead request(String request) throws IOException {
        if (ahead.hasRemaining()) {
            throw new IOException(
                    "the server has sent " + ahead.remaining() + " bytes more than its last response has");
        }
        HttpProxy proxy = origin.secure() ? null : route.proxy();
        String sent = proxy == null ? request : proxy.forwarded(request, origin);
        send(sent.getBytes(StandardCharsets.ISO_8859_1));
        count();
        ResponseHead head = head();
        for (int interim = 1; head.status() < 200; interim++) {
            if (interim > MOST_INTERIM) {
                throw new IOException("the server has sent more than " + MOST_INTERIM + " interim answers");
            }
            head = head();
        }
        if (proxy != null) {
            proxy.check(head, false);
        }
        used = true;
        chunked = head.isChunked();
        delimited = head.value("content-length") != null;
        chunk = 0;
        count();
        return head;
    }

    private ResponseHead head() throws IOException {
        int from = ahead.position();
        while (true) {
            for (int end = from; end < ahead.limit(); end++) {
                if (ahead.get(end) == '\n' && isEmptyLine(end)) {
                    byte[] text = new byte[end - ahead.position()];
                    ahead.get(text);
                    ahead.get(); // the line feed
                    return ResponseHead.parse(new String(text, StandardCharsets.ISO_8859_1));
                }
            }
            if (ahead.remaining() == MOST_HEAD_BYTES) {
                throw new IOException("the headers of the response are longer than " + MOST_HEAD_BYTES + " bytes");
            }
            from = Math.max(0, ahead.remaining());
            ahead.compact();
            int got = receive(ahead);
            ahead.flip();
            if (got < 0) {
                throw new EOFException(
                        from == 0 ? "the server closed the connection" : "the connection ended within the headers");
            }
        }
    }

    /** Returns whether the line that this line feed ends is empty. */
    private boolean isEmptyLine(int lineFeed) {
        int before = lineFeed - 1;
        if (before >= ahead.position() && ahead.get(before) == '\r') {
            before--;
        }
        return before >= ahead.position() && ahead.get(before) == '\n';
    }

    /** Receives the bytes of a body until {@code to} is full; what has arrived before an error stays in it. */
    final void body(ByteBuffer to) throws IOException {
        int end = to.limit();
        while (chunked && to.hasRemaining()) {
            if (chunk == 0 && !nextChunk()) {
                throw new EOFException("the chunks ended " + to.remaining() + " bytes before the end of the range");
            }
            int start = to.position();
            try {
                fill(to.limit((int) Math.min(end, start + chunk)));
            } finally {
                chunk -= to.position() - start;
                to.limit(end);
            }
            if (chunk == 0) {
                line(); // the end of the chunk's
            }
        }
        fill(to);
    }

    private void fill(ByteBuffer to) throws IOException {
        int early = Math.min(ahead.remaining(), to.remaining());
        if (early > 0) {
            int limit = ahead.limit();
            ahead.limit(ahead.position() + early);
            to.put(ahead);
            ahead.limit(limit);
        }
        while (to.hasRemaining()) {
            if (receive(to) < 0) {
                throw new EOFException("the connection ended " + to.remaining() + " bytes before the end of the range");
            }
        }
    }

    /** Receives what follows the last byte of a body; returns whether the next request may follow. */
    final boolean end() {
        try {
            if (!chunked || chunk > 0 || nextChunk()) {
                return delimited && !chunked;
            }
            while (!line().isEmpty()) {
                // a trailer, whose bytes are counted as the bytes before
            }
            return true;
        } catch (IOException e) {
            return false; // the body is there
        }
    }

    /** Receives a body that describes a failure: as much as arrives of its first {@link #MOST_HEAD_BYTES} bytes. */
    final String text(ResponseHead head) {
        ByteBuffer text = ByteBuffer.allocate(MOST_HEAD_BYTES);
        try {
            String length = head.value("content-length");
            body(chunked || length == null ? text : text.limit(Math.min(MOST_HEAD_BYTES, Integer.parseInt(length))));
        } catch (IOException | IllegalArgumentException e) {
            // what has arrived before may do
        }
        return StandardCharsets.UTF_8.decode(text.flip()).toString();
    }

    /**
     * Receives all of a body.
     *
     * @throws IOException also if it has more than {@code most} bytes
     */
    final String all(ResponseHead head, int most) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        ByteBuffer part = ByteBuffer.allocate(MOST_HEAD_BYTES);
        long left = head.totalBytes();
        while (chunked ? chunk > 0 || nextChunk() : left != 0) {
            part.clear().limit((int) Math.min(part.capacity(), chunked ? chunk : left < 0 ? part.capacity() : left));
            boolean ends = false;
            if (chunked || left > 0) {
                body(part);
            } else {
                ends = !ahead.hasRemaining() && receive(part) < 0;
                fill(part.limit(Math.min(part.limit(), part.position() + ahead.remaining())));
            }
            left = left < 0 ? (ends ? 0 : left) : left - part.position();
            all.write(part.array(), 0, part.position());
            if (all.size() > most) {
                throw new NativeException(
                        "a document",
                        new NativeFailure( // which it will have at each attempt
                                new NativeError("GET", head.status(), head.symbol()),
                                NativeFailure.Kind.PERMANENT,
                                "it has more than " + most + " bytes"));
            }
        }
        return all.toString(StandardCharsets.UTF_8);
    }

    /** Begins the next chunk; returns false at the last one, which has no bytes. */
    private boolean nextChunk() throws IOException {
        String size = line().split(";", 2)[0].strip();
        if (!size.matches("\\p{XDigit}{1,15}")) {
            throw new IOException("a chunk begins without its length");
        }
        chunk = Long.parseLong(size, 16);
        return chunk > 0;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        while (line.length() < MOST_LINE_BYTES) {
            if (!ahead.hasRemaining()) {
                int got = receive(ahead.clear());
                ahead.flip();
                if (got < 0) {
                    throw new EOFException("the connection ended between two chunks");
                }
            }
            char next = (char) (ahead.get() & 0xff);
            if (next == '\n') {
                return line.toString().strip();
            }
            line.append(next);
        }
        throw new IOException("a line between chunks is longer than " + MOST_LINE_BYTES + " bytes");
    }

    abstract void send(byte[] bytes) throws IOException;

    /** Receives at least one byte; returns -1 at the end of the stream. */
    abstract int receive(ByteBuffer to) throws IOException;

    @Override
    public abstract void close();

    /**
     * Bytes go from the socket into the target's memory. The selector is for time limits, which blocking channels lack.
     */
    private static final class Plain extends Connection {

        private final SocketChannel channel;
        private final Selector selector;
        private final SelectionKey key;
        private final int timeoutMillis;

        Plain(Origin origin, Route route, Requester by) throws IOException {
            super(origin, route);
            this.timeoutMillis = route.timeoutMillis();
            this.channel = route.connect(origin, address -> open(address, by));
            Selector opened = null;
            try {
                channel.socket().setTcpNoDelay(true);
                channel.configureBlocking(false);
                opened = Selector.open();
                key = channel.register(opened, SelectionKey.OP_READ);
                selector = opened;
            } catch (IOException | RuntimeException e) {
                Selector half = opened;
                try (channel;
                        half) {
                    throw e; // also if a close fails
                }
            }
        }

        private SocketChannel open(InetSocketAddress address, Requester by) throws IOException {
            SocketChannel opened = SocketChannel.open();
            try {
                by.opens(opened);
                opened.socket().connect(address, timeoutMillis);
                return opened;
            } catch (IOException | RuntimeException | Error e) {
                try (opened) {
                    throw e; // also if the close fails
                }
            }
        }

        @Override
        void send(byte[] bytes) throws IOException {
            ByteBuffer rest = ByteBuffer.wrap(bytes);
            while (rest.hasRemaining()) {
                if (channel.write(rest) == 0) {
                    await(SelectionKey.OP_WRITE);
                }
            }
        }

        @Override
        int receive(ByteBuffer to) throws IOException {
            int got = channel.read(to);
            while (got == 0) {
                await(SelectionKey.OP_READ);
                got = channel.read(to);
            }
            received(got);
            return got;
        }

        private void await(int operation) throws IOException {
            try {
                key.interestOps(operation);
                int ready = selector.select(timeoutMillis);
                selector.selectedKeys().clear();
                if (ready == 0 && Thread.currentThread().isInterrupted()) { // which ends every select at once
                    throw new InterruptedIOException("interrupted while waiting for the server");
                }
                if (ready == 0 && channel.isOpen()) {
                    throw new SocketTimeoutException("the server was silent for " + timeoutMillis + " ms");
                }
            } catch (ClosedSelectorException | CancelledKeyException e) {
                throw new AsynchronousCloseException();
            }
        }

        @Override
        public void close() {
            try {
                channel.close();
                selector.close();
            } catch (IOException e) {
                // it is of no more use
            }
        }
    }
}
