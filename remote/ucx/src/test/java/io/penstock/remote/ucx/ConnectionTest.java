// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.ucx.Connection.Data;
import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.tck.Require;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two connections of one process to each other. */
class ConnectionTest {

    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Ended near = new Ended();
    private final Ended far = new Ended();
    private Connection connection;
    private Connection other;

    /** Takes no messages. */
    private static final class Ended implements Connection.Side {
        final List<NativeFailure> causes = new ArrayList<>(); // read after the end of the thread

        @Override
        public void received(Message message, Data data) {
            throw new IllegalStateException("no message must come, was " + message);
        }

        @Override
        public boolean isWaiting() {
            return false;
        }

        @Override
        public void ended(NativeFailure cause) {
            causes.add(cause);
        }
    }

    @BeforeAll
    static void needsUcx() {
        Require.backend("ucx", UcxContext.unavailable());
    }

    @BeforeEach
    void connect() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
            Socket accepted = server.accept();
            CompletableFuture<Connection> opening = CompletableFuture.supplyAsync(() -> open(accepted, "near", far));
            connection = open(socket, "far", near);
            other = opening.get();
        }
    }

    @AfterEach
    void close() {
        for (Connection open : List.of(connection, other)) {
            open.end(open.failure("close", 0, "the test is over"));
            open.join();
        }
        assertThat(far.causes).hasSize(1);
    }

    private static Connection open(Socket socket, String peer, Connection.Side side) {
        try {
            return Connection.open(socket, peer, side, TIMEOUT_NANOS);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void fail() {
        throw new OutOfMemoryError("by the test");
    }

    /** Stops its thread until the latch is at 0. */
    private static void hold(Connection held, CountDownLatch latch) {
        held.post(() -> {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Test
    void everyTaskThatWasTakenIsRunAlsoWhereAnotherOneFails() {
        Queue<String> run = new ConcurrentLinkedQueue<>();
        CountDownLatch posted = new CountDownLatch(1);
        hold(connection, posted);
        assertThat(connection.post(ConnectionTest::fail)).isTrue();
        assertThat(connection.post(() -> run.add("first"))).isTrue();
        assertThat(connection.post(ConnectionTest::fail)).isTrue();
        assertThat(connection.post(() -> run.add("second"))).isTrue();
        posted.countDown();
        connection.join();
        assertThat(run).containsExactly("first", "second");
        assertThat(near.causes)
                .singleElement()
                .satisfies(cause -> assertThat(cause.note()).contains("by the test"));
        assertThat(connection.post(() -> {})).as("a task after the end").isFalse();
    }

    @Test
    void theConnectionEndsAlsoWhereTheEndsOfItsOperationsFail() {
        int bytes = 9_000_000; // which the peer would have to fetch
        long memory = UcxContext.allocate(bytes);
        Queue<String> run = new ConcurrentLinkedQueue<>();
        CountDownLatch ended = new CountDownLatch(1);
        hold(other, ended);
        connection.post(() -> {
            for (String name : List.of("first", "second")) {
                connection.send(
                        Message.of(Message.Kind.WRITE, 1, 1), memory, bytes, Ucp.UCS_MEMORY_TYPE_HOST, status -> {
                            run.add(name);
                            fail();
                        });
            }
        });
        connection.end(connection.failure("close", 0, "ended by the test"));
        connection.join();
        ended.countDown();
        assertThat(run).containsExactlyInAnyOrder("first", "second");
        assertThat(near.causes)
                .singleElement()
                .satisfies(cause -> assertThat(cause.note()).contains("ended by the test"));
        assertThat(connection.post(() -> {})).as("a task after the end").isFalse();
        NativeMemory.free(memory);
    }
}
