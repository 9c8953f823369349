// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Wakeup;
import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.remote.ucx.ffi.UcpCallback;
import io.penstock.remote.ucx.ffi.UcsStatus;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to a peer: a UCX worker with one endpoint, driven by one thread, and a socket, by which the addresses of
 * the workers were exchanged. The connection ends when the socket does, since that detects the death of a process at
 * once on every transport; when UCX reports an error; or when the peer sends nothing for too long while a response is
 * due.
 *
 * <p><b>Threading:</b> {@link #post} and {@link #end} on any thread; all else on the thread of the connection, which
 * also calls its {@link Side}.
 *
 * <p><b>Ownership:</b> memory is used until the {@code ended} of its operation is called. At the end of the connection
 * the worker is destroyed first.
 */
final class Connection {

    // Free ones, more than a worker has: UCX ends the process that lacks one when it connects.
    private static final int DESCRIPTORS = 64;

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final int TICK_MILLIS = 100;
    private static final int PROGRESS_AT_MOST = 64; // calls before other work is done

    /** What a connection is used for. */
    interface Side {

        /** Called once, before all others. */
        default void connected(Connection connection) {}

        /**
         * Takes a message. Its data is to be received by {@link Connection#receive} or dropped by
         * {@link Connection#release}, now or later.
         */
        void received(Message message, Data data);

        /** Returns whether an answer of the peer is awaited. */
        boolean isWaiting();

        /** Called once, when the connection has ended; no operation is in flight any more. */
        void ended(NativeFailure cause);
    }

    /** The data of a message. */
    static final class Data {
        final long bytes;
        private final long handle; // its address, or its descriptor
        private final boolean isAhead; // it has yet to be fetched from the peer
        private State state = State.ARRIVED;

        private enum State {
            /** In the callback, whose result decides whether UCX keeps it. */
            ARRIVED,
            /** By UCX, until it is fetched or released. */
            KEPT,
            /** By a call that takes the descriptor. */
            FETCHED,
            RELEASED
        }

        private Data(long handle, long bytes, boolean isAhead) {
            this.handle = handle;
            this.bytes = bytes;
            this.isAhead = isAhead;
        }

        /** Returns whether it is here already, in memory of the host; if not, {@link Connection#receive} fetches it. */
        boolean isHere() {
            return !isAhead;
        }

        /** Returns the first bytes as a text; empty if they are not here yet. */
        String text() {
            return isAhead || bytes == 0
                    ? ""
                    : StandardCharsets.UTF_8
                            .decode(NativeMemory.view(handle, bytes))
                            .toString();
        }
    }

    private final String peer;
    private final Socket socket;
    private final Side side;
    private final long timeoutNanos;
    private final Endpoint endpoint;
    private final DaemonThread thread;

    private final Object inboxLock = new Object();
    private final Wakeup wakeup = new Wakeup(this::signal);
    private ArrayDeque<Runnable> inbox = new ArrayDeque<>(); // guarded by inboxLock, as the next
    private boolean closed;

    private volatile @Nullable NativeFailure over; // why it ends

    // Of the thread of the connection.
    private final Operations operations = new Operations(this::thrown);
    private ArrayDeque<Runnable> tasks = new ArrayDeque<>();

    /**
     * Connects to the peer at the other end of a socket, after {@link Handshake}'s first step; blocks. The connection
     * owns the socket.
     */
    static Connection open(Socket socket, String peer, Side side, long timeoutNanos) throws IOException {
        try {
            Connection connection = new Connection(socket, peer, side, timeoutNanos);
            connection.start();
            return connection;
        } catch (IOException | RuntimeException | Error e) {
            try (socket) {
                throw e; // also if the close fails
            }
        }
    }

    private Connection(Socket socket, String peer, Side side, long timeoutNanos) throws IOException {
        this.socket = socket;
        this.peer = peer;
        this.side = side;
        this.timeoutNanos = timeoutNanos;
        RuntimeException limit = HostFailure.ofLimitNow(peer, DESCRIPTORS);
        if (limit != null) {
            throw limit;
        }
        endpoint = Endpoint.open(
                UcpCallback.of((UcpCallback.MessageHandler) this::received),
                UcpCallback.of((UcpCallback.ErrorHandler) this::failed));
        try {
            byte[] own = endpoint.address();
            byte[] other = Handshake.exchange(socket, own, timeoutNanos);
            WorkerAddress.check(own, other);
            endpoint.connect(other);
        } catch (IOException | RuntimeException | Error e) {
            endpoint.destroy();
            throw e;
        }
        thread = new DaemonThread("penstock-ucx-" + NUMBER.getAndIncrement(), this::run);
    }

    private void start() {
        try {
            side.connected(this);
            thread.start();
        } catch (RuntimeException | Error e) { // such as no more threads
            endpoint.destroy();
            throw e;
        }
    }

    // Any thread.

    /** Runs a task on the thread of the connection; returns false if that has ended, and does not run it. */
    boolean post(Runnable task) {
        synchronized (inboxLock) {
            if (closed) {
                return false;
            }
            inbox.add(task);
        }
        wakeup.wake();
        return true;
    }

    /** Ends the connection; what is in flight fails. */
    void end(NativeFailure cause) {
        post(() -> over(cause));
    }

    /** Returns why the connection has ended or ends; null if it does not. */
    @Nullable
    NativeFailure over() {
        return over;
    }

    /** Waits for the end of the peer's socket, and ends the connection then; blocks. */
    void watch() {
        String reason = "it has closed the connection, or its process has ended";
        try {
            while (socket.getInputStream().read() >= 0) {
                // nothing is sent after the handshake
            }
        } catch (IOException e) {
            reason = e.getMessage() == null ? e.toString() : e.getMessage();
        }
        end(failure("recv", UcsStatus.CANCELED, reason));
    }

    /** Waits until the thread of the connection has ended. */
    void join() {
        if (thread != Thread.currentThread()) {
            thread.awaitEnd();
        }
    }

    /** Returns a failure of this connection. */
    NativeFailure failure(String call, int status, String reason) {
        return UcxContext.failure(call, status, "the connection to " + peer + " has ended: " + reason);
    }

    private void signal() {
        synchronized (inboxLock) {
            if (!closed) {
                endpoint.signal();
            }
        }
    }

    // The thread of the connection.

    /** Sends a message without data. */
    void send(Message message) {
        send(message, 0, 0, Ucp.UCS_MEMORY_TYPE_HOST, status -> {});
    }

    /** Sends a message with a text. */
    void send(Message message, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long memory = UcxContext.allocate(Math.max(1, bytes.length));
        NativeMemory.view(memory, bytes.length).put(bytes);
        send(message, memory, bytes.length, Ucp.UCS_MEMORY_TYPE_HOST, status -> NativeMemory.free(memory));
    }

    /**
     * Sends a message with data.
     *
     * @param memoryType of UCX, of the data
     * @param ended called with the status when the data is not used any more; may be called before this returns
     * @return ends it early
     */
    Runnable send(Message message, long data, long bytes, int memoryType, IntConsumer ended) {
        if (over != null) {
            ended.accept(UcsStatus.CANCELED);
            return () -> {};
        }
        long header = operations.header(message);
        long request = endpoint.send(header, data, bytes, memoryType);
        return started("ucp_am_send_nbx", request, header, ended);
    }

    /**
     * Receives the data of a message.
     *
     * @param memoryType of UCX, of the memory; the host's if the data {@linkplain Data#isHere is here}
     * @param ended called with the status when the memory is not used any more; may be called before this returns
     * @return ends it early
     */
    Runnable receive(Data data, long memory, int memoryType, IntConsumer ended) {
        if (over != null) {
            ended.accept(UcsStatus.CANCELED);
            return () -> {};
        }
        if (!data.isAhead) {
            if (data.bytes > 0) {
                NativeMemory.copy(memory, data.handle, data.bytes);
            }
            release(data);
            ended.accept(UcsStatus.OK);
            return () -> {};
        }
        data.state = Data.State.FETCHED;
        long request = endpoint.receive(data.handle, memory, data.bytes, memoryType);
        return started("ucp_am_recv_data_nbx", request, 0, ended);
    }

    /** Drops the data of a message. */
    void release(Data data) {
        if (over == null && data.state == Data.State.KEPT) { // in the callback, its result releases it
            endpoint.release(data.handle);
        }
        data.state = Data.State.RELEASED;
    }

    private Runnable started(String call, long request, long header, IntConsumer ended) {
        if (request != 0 && !Ucp.isError(request)) {
            return operations.add(request, header, ended);
        }
        operations.free(header);
        if (request != 0) {
            over(failure(call, (int) request, "it cannot transfer"));
        }
        ended.accept((int) request);
        return () -> {};
    }

    private void over(NativeFailure cause) {
        if (over == null) {
            over = cause;
        }
    }

    /** In {@code ucp_worker_progress}. */
    private int received(long header, long headerBytes, long data, long bytes, long attributes) {
        operations.heard();
        try {
            Message message = Message.read(header, headerBytes);
            Data received = new Data(data, bytes, (attributes & Ucp.UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
            side.received(message, received);
            if (received.state == Data.State.ARRIVED && bytes > 0) {
                received.state = Data.State.KEPT;
            }
            boolean keeps = received.state == Data.State.KEPT || received.state == Data.State.FETCHED;
            return keeps ? UcsStatus.INPROGRESS : UcsStatus.OK;
        } catch (Throwable e) {
            LOG.warn("a message of {} cannot be handled", peer, e);
            over(failure("ucp_am_recv_callback", UcsStatus.CANCELED, "a message cannot be handled: " + e));
            return UcsStatus.OK;
        }
    }

    /** In {@code ucp_worker_progress}. */
    private void failed(int status) {
        over(failure("ucp_worker_progress", status, "UCX reports an error"));
    }

    private void run() {
        Runnable turn = this::turn;
        try {
            while (over == null) {
                attempt(turn);
            }
        } finally {
            shutDown();
        }
    }

    /** Runs a part of the work; what it throws ends the connection, but keeps no other part from being run. */
    void attempt(Runnable part) {
        try {
            part.run();
        } catch (Throwable e) {
            thrown(e);
        }
    }

    private void thrown(Throwable e) {
        over(failure("ucp_worker_progress", UcsStatus.CANCELED, e.toString()));
        LOG.error("the connection to {} ends by an error", peer, e);
    }

    private void turn() {
        boolean worked = runTasks();
        for (int i = 0; i < PROGRESS_AT_MOST && endpoint.progress(); i++) {
            worked = true;
        }
        worked |= operations.check();
        if (!worked && over == null) {
            sleep();
        }
    }

    private boolean runTasks() {
        synchronized (inboxLock) {
            if (inbox.isEmpty()) {
                return false;
            }
            ArrayDeque<Runnable> taken = inbox;
            inbox = tasks;
            tasks = taken;
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            attempt(task);
        }
        return true;
    }

    /** Sleeps until UCX or another thread has work, or until the next check for overdue operations. */
    private void sleep() {
        int millis = -1;
        if (!operations.isEmpty() || side.isWaiting()) {
            millis = TICK_MILLIS;
            String silence = operations.silence(timeoutNanos);
            if (silence != null) {
                over(failure("ucp_worker_progress", UcsStatus.CANCELED, silence));
            }
        } else {
            operations.expectNothing();
        }
        if (over == null && wakeup.begin()) {
            int status = endpoint.arm();
            if (status == UcsStatus.OK) {
                endpoint.poll(millis);
            } else if (status != UcsStatus.BUSY) {
                over(failure("ucp_worker_arm", status, "UCX reports an error"));
            }
            wakeup.end();
        }
    }

    /** Closes the endpoint, so that all operations end, and then the worker. */
    private void shutDown() {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing the socket to {}", peer, e);
        }
        long closing = endpoint.close();
        long until = System.nanoTime() + Operations.GRACE_NANOS;
        boolean ended = closing == 0 || Ucp.isError(closing);
        while ((!ended || !operations.isEmpty()) && System.nanoTime() - until < 0) {
            if (!endpoint.progress()) {
                Thread.onSpinWait();
            }
            operations.check();
            if (!ended && Ucp.ucp_request_check_status(closing) != UcsStatus.INPROGRESS) {
                Ucp.ucp_request_free(closing);
                ended = true;
            }
        }
        destroyClosed();
    }

    private void destroyClosed() {
        synchronized (inboxLock) {
            closed = true;
        }
        endpoint.destroy(); // nothing uses memory of operations any more
        operations.cancel();
        runTasks();
        NativeFailure cause = over;
        attempt(() -> side.ended(cause != null ? cause : failure("ucp_ep_close_nbx", UcsStatus.CANCELED, "closed")));
        LOG.debug("the connection to {} has ended: {}", peer, cause);
    }

    @Override
    public String toString() {
        return "connection to " + peer;
    }
}
