// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.NativeError;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;
import io.penstock.remote.ucx.Connection.Data;
import io.penstock.remote.ucx.Message.Refusal;
import io.penstock.remote.ucx.ffi.UcsStatus;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A listener in another process, as a reader sees it: the files that are open, and the requests that await an answer.
 */
final class RemotePeer implements Connection.Side {

    /** A request that awaits its answer. On the thread of the connection. */
    interface Pending {

        /** Takes the answer, or the data that is one. */
        void answered(Message answer, Data data);

        /** Called instead if there will be no answer. */
        void failed(NativeFailure failure);
    }

    private final String name;
    private final long timeoutNanos;
    private final Connection connection;

    // Of the thread of the connection.
    private final Map<Long, Pending> pending = new HashMap<>();
    private final Set<UcxFile> files = new HashSet<>();
    private long lastId;

    private RemotePeer(Socket socket, String name, long timeoutNanos) throws IOException {
        this.name = name;
        this.timeoutNanos = timeoutNanos;
        this.connection = Connection.open(socket, name, this, timeoutNanos);
        try {
            new DaemonThread("penstock-ucx-watch-" + name, connection::watch).start();
        } catch (OutOfMemoryError e) { // the system permits no more threads
            connection.end(connection.failure("Thread.start", UcsStatus.CANCELED, e.toString()));
            throw e;
        }
    }

    /** Connects to a listener by the token of one of its exports; blocks. */
    static RemotePeer connect(String host, int port, String token, long timeoutNanos) throws IOException {
        UcxContext.get(); // first: its failure says more than the failure of a connection
        String name = host + ":" + port;
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(host, port), Handshake.millis(timeoutNanos));
            socket.setTcpNoDelay(true);
            Handshake.join(socket, name, token, timeoutNanos);
            return new RemotePeer(socket, name, timeoutNanos);
        } catch (IOException | RuntimeException e) {
            try (socket) {
                if (e instanceof IOException
                        && !(e instanceof NoSuchFileException)) { // a socket's exception does not name the peer
                    throw new IOException("connecting to " + name + " failed: " + e, e);
                }
                throw e; // also if the close fails
            }
        }
    }

    Connection connection() {
        return connection;
    }

    /** Opens the file of a token; blocks. */
    UcxFile open(String token, int access, Runnable closer) throws IOException {
        CompletableFuture<UcxFile> opened = new CompletableFuture<>();
        boolean posted = connection.post(() -> {
            long id = ask(new Opening(token, access, closer, opened));
            connection.send(Message.of(Message.Kind.OPEN, id, 0), token);
        });
        if (!posted) {
            throw new NativeException("opening a file of " + name, failure());
        }
        try {
            return opened.get(timeoutNanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw giveUp(
                    opened,
                    new IOException(
                            name + " has not answered within " + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms",
                            e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw giveUp(opened, new IOException("interrupted while opening a file of " + name, e));
        }
    }

    /** Fails an opening; closes the file if it was opened meanwhile. */
    private static IOException giveUp(CompletableFuture<UcxFile> opened, IOException why) {
        if (!opened.completeExceptionally(why) && !opened.isCompletedExceptionally()) {
            opened.join().abandon();
        }
        return why;
    }

    private final class Opening implements Pending {

        private final String token;
        private final int access;
        private final Runnable closer;
        private final CompletableFuture<UcxFile> opened;

        Opening(String token, int access, Runnable closer, CompletableFuture<UcxFile> opened) {
            this.token = token;
            this.access = access;
            this.closer = closer;
            this.opened = opened;
        }

        @Override
        public void answered(Message answer, Data data) {
            connection.release(data);
            if ((access & ~answer.length()) != 0) {
                connection.send(Message.of(Message.Kind.CLOSE, 0, answer.export()));
                opened.completeExceptionally(
                        new AccessDeniedException(uri(), null, "the listener does not export it for that"));
                return;
            }
            UcxFile file = new UcxFile(RemotePeer.this, uri(), answer, closer);
            if (opened.complete(file)) {
                files.add(file);
            } else { // the opening has failed meanwhile
                connection.send(Message.of(Message.Kind.CLOSE, 0, answer.export()));
            }
        }

        private String uri() {
            return "ucx://" + name + "/" + token;
        }

        @Override
        public void failed(NativeFailure failure) {
            opened.completeExceptionally(
                    failure.error().symbol().equals(Refusal.NO_SUCH_EXPORT.name())
                            ? new NoSuchFileException(uri(), null, failure.note())
                            : new NativeException("opening a file of " + name, failure));
        }
    }

    /** Returns why the connection has ended. */
    NativeFailure failure() {
        NativeFailure over = connection.over();
        return over != null ? over : connection.failure("ucp_am_send_nbx", UcsStatus.CANCELED, "closed");
    }

    // The thread of the connection.

    /** Returns the id of a request that is about to be sent. */
    long ask(Pending request) {
        pending.put(++lastId, request);
        return lastId;
    }

    /** Forgets a request, so that its answer is dropped; returns whether it was awaited. */
    boolean forget(long id) {
        return pending.remove(id) != null;
    }

    /** Forgets a file. */
    void closed(UcxFile file) {
        files.remove(file);
        connection.send(Message.of(Message.Kind.CLOSE, 0, file.export()));
    }

    @Override
    public void received(Message message, Data data) {
        if (message.kind() == Message.Kind.REVOKED) {
            connection.release(data);
            for (UcxFile file : files) {
                if (file.export() == message.export()) {
                    file.revoked();
                }
            }
            return;
        }
        Pending request = pending.remove(message.id());
        if (request == null) { // it was ended early
            connection.release(data);
        } else if (message.kind() == Message.Kind.FAILED) {
            String reason = data.text();
            connection.release(data);
            request.failed(refusal(message.code(), reason));
        } else {
            request.answered(message, data);
        }
    }

    private static NativeFailure refusal(int code, String reason) {
        Refusal refusal = Refusal.of(code);
        return new NativeFailure(
                new NativeError("ucx", refusal.number, refusal.name()),
                refusal == Refusal.TRANSIENT ? Kind.TRANSIENT : Kind.PERMANENT,
                reason);
    }

    @Override
    public boolean isWaiting() {
        return !pending.isEmpty();
    }

    @Override
    public void ended(NativeFailure cause) {
        Map<Long, Pending> left = Map.copyOf(pending);
        pending.clear();
        left.values().forEach(request -> connection.attempt(() -> request.failed(cause)));
        files.clear();
    }

    @Override
    public String toString() {
        return name;
    }
}
