// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.NativeError;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.ucx.Connection.Data;
import io.penstock.remote.ucx.Message.Refusal;
import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.remote.ucx.ffi.UcsStatus;
import java.nio.ByteBuffer;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What a listener in another process exports, as a file. */
final class UcxFile implements AsyncFile {

    private static final ByteBuffer EMPTY = ByteBuffer.allocateDirect(0);

    private final RemotePeer peer;
    private final Connection connection;
    private final String name;
    private final long export;
    private final Runnable closer;
    private volatile long size;
    private volatile boolean revoked;

    UcxFile(RemotePeer peer, String name, Message opened, Runnable closer) {
        this.peer = peer;
        this.connection = peer.connection();
        this.name = name;
        this.export = opened.export();
        this.size = opened.offset();
        this.closer = closer;
    }

    /** Notes that the listener has ended the export. */
    void revoked() {
        revoked = true;
    }

    @Override
    public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        return start(new Read(offset, to, ended));
    }

    @Override
    public Runnable write(long offset, ByteBuffer from, Consumer<@Nullable Throwable> ended) {
        return start(new Write(offset, from, ended));
    }

    @Override
    public void sync(Consumer<@Nullable NativeFailure> ended) {
        Request sync =
                new Request(
                        Message.Kind.SYNC, 0, EMPTY, failure -> ended.accept(failure == null ? null : known(failure))) {

                    @Override
                    public void answered(Message answer, Data data) {
                        connection.release(data);
                        ended.accept(null);
                    }
                };
        start(sync);
    }

    /** Returns the cause of a failure: the native one, or else the connection's. */
    private NativeFailure known(Throwable failure) {
        return failure instanceof NativeException known ? known.failure() : peer.failure();
    }

    private static void nothing() {}

    private Runnable start(Request request) {
        if (!connection.post(request::begin)) {
            request.failed(peer.failure());
            return UcxFile::nothing;
        }
        return () -> connection.post(request::end);
    }

    /** A request to the listener. On the thread of the connection. */
    private abstract class Request implements RemotePeer.Pending {

        final Message.Kind kind;
        final long offset;
        private final ByteBuffer memory; // also keeps it reachable
        final Consumer<@Nullable Throwable> ended;
        long id;
        Runnable ending = UcxFile::nothing; // of the operation that uses the memory
        boolean isEnding;

        Request(Message.Kind kind, long offset, ByteBuffer memory, Consumer<@Nullable Throwable> ended) {
            this.kind = kind;
            this.offset = offset;
            this.memory = memory;
            this.ended = ended;
        }

        long address() {
            return NativeMemory.address(memory) + memory.position();
        }

        long bytes() {
            return memory.remaining();
        }

        final void begin() {
            NativeFailure over = connection.over();
            if (over != null) {
                failed(over);
            } else if (revoked) {
                failed(new NativeFailure(
                        new NativeError("ucx", Refusal.REVOKED.number, Refusal.REVOKED.name()),
                        NativeFailure.Kind.PERMANENT,
                        "the export has ended"));
            } else {
                id = peer.ask(this);
                send(new Message(kind, 0, id, export, offset, bytes()));
            }
        }

        void send(Message message) {
            connection.send(message);
        }

        /** Ends it early, if it can be. */
        void end() {}

        /** Ends it with a status of UCX. */
        final void ended(String call, int status) {
            if (status == UcsStatus.OK) {
                ended.accept(null);
            } else if (isEnding) {
                ended.accept(new CancellationException());
            } else {
                NativeFailure over = connection.over();
                ended.accept(new NativeException(
                        kind + " of " + name, over != null ? over : UcxContext.failure(call, status, "")));
            }
        }

        @Override
        public void failed(NativeFailure failure) {
            ended.accept(isEnding ? new CancellationException() : new NativeException(kind + " of " + name, failure));
        }
    }

    /**
     * The listener sends the data, which is received into the memory; UCX uses the memory from the arrival of the
     * message on.
     */
    private final class Read extends Request {

        Read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
            super(Message.Kind.READ, offset, to, ended);
        }

        @Override
        public void answered(Message answer, Data data) {
            if (data.bytes != bytes()) {
                long came = data.bytes;
                connection.release(data);
                failed(UcxContext.failure(
                        "ucp_am_recv_callback",
                        UcsStatus.CANCELED,
                        "the listener must send " + bytes() + " bytes, sent " + came));
                return;
            }
            ending = connection.receive(
                    data, address(), Ucp.UCS_MEMORY_TYPE_HOST, status -> ended("ucp_am_recv_data_nbx", status));
        }

        @Override
        void end() {
            isEnding = true;
            if (peer.forget(id)) {
                ended.accept(new CancellationException());
            } else {
                ending.run();
            }
        }
    }

    /**
     * The data goes with the request; the memory is used until UCX has sent it, and the write lasts until the answer.
     */
    private final class Write extends Request {

        private boolean isSent;
        private boolean isAnswered;
        private boolean isOver;
        private @Nullable NativeFailure failure;

        Write(long offset, ByteBuffer from, Consumer<@Nullable Throwable> ended) {
            super(Message.Kind.WRITE, offset, from, ended);
        }

        @Override
        void send(Message message) {
            ending = connection.send(message, address(), bytes(), Ucp.UCS_MEMORY_TYPE_HOST, this::sent);
        }

        private void sent(int status) {
            isSent = true;
            if (status != UcsStatus.OK && !isAnswered) {
                peer.forget(id);
                isAnswered = true;
                failure = connection.over() != null
                        ? connection.over()
                        : UcxContext.failure("ucp_am_send_nbx", status, "");
            }
            endIfDone();
        }

        @Override
        public void answered(Message answer, Data data) {
            connection.release(data);
            isAnswered = true;
            endIfDone();
        }

        @Override
        public void failed(NativeFailure cause) {
            isAnswered = true;
            failure = cause;
            endIfDone();
        }

        @Override
        void end() {
            isEnding = true;
            isAnswered |= peer.forget(id);
            if (!isSent) {
                ending.run();
            }
            endIfDone();
        }

        private void endIfDone() {
            if (!isSent && id != 0 || !isAnswered || isOver) {
                return;
            }
            isOver = true;
            NativeFailure cause = failure;
            if (isEnding) {
                ended.accept(new CancellationException());
            } else if (cause != null) {
                super.failed(cause);
            } else {
                grow(offset + bytes());
                ended.accept(null);
            }
        }
    }

    private void grow(long end) {
        size = Math.max(size, end); // by the thread of the connection only
    }

    /** {@inheritDoc} The export, as long as its listener lasts. */
    @Override
    public Object identity() {
        return name;
    }

    @Override
    public long size() {
        return size;
    }

    long export() {
        return export;
    }

    /** Closes the file at the listener; does not run the closer. */
    void abandon() {
        connection.post(() -> peer.closed(this));
    }

    @Override
    public void close() {
        abandon();
        closer.run();
    }

    @Override
    public String toString() {
        return name;
    }
}
