// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.tck.Require;
import java.io.Closeable;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The addresses of a host: all are tried, as RFC 8305 has it. */
@SuppressWarnings("AddressSelection") // of literals
class RouteTest {

    private static final InetSocketAddress SIX = new InetSocketAddress("::1", 80);
    private static final Executor THREADS = attempt -> new Thread(attempt).start();
    private static final InetSocketAddress FOUR = new InetSocketAddress("127.0.0.1", 80);

    /** An open connection. */
    private static final class Opened implements Closeable {

        private final InetSocketAddress to;
        private final CountDownLatch closed = new CountDownLatch(1);

        Opened(InetSocketAddress to) {
            this.to = to;
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    private static List<InetAddress> addresses(String... literals) throws IOException {
        List<InetAddress> all = new ArrayList<>();
        for (String literal : literals) {
            all.add(InetAddress.getByName(literal));
        }
        return all;
    }

    @Test
    void theFamiliesTakeTurnsAndTheSystemsFirstBegins() throws IOException {
        List<InetAddress> order = Route.inOrder(addresses("::1", "::2", "::3", "127.0.0.1"));
        assertThat(order).hasSize(4).containsAll(addresses("::1", "::2", "::3", "127.0.0.1"));
        assertThat(order.get(1)).isEqualTo(InetAddress.getByName("127.0.0.1"));
        assertThat(Route.inOrder(addresses("127.0.0.1", "::1"))).isEqualTo(addresses("127.0.0.1", "::1"));
    }

    @Test
    void anAddressThatRefusesIsFollowedByTheNext() throws IOException {
        Opened opened = Route.first(
                "name",
                List.of(FOUR, SIX),
                to -> {
                    if (to == FOUR) {
                        throw new ConnectException("Connection refused");
                    }
                    return new Opened(to);
                },
                THREADS);
        assertThat(opened.to).isSameAs(SIX);
    }

    /** Its error says which limit the process has met; the other address goes on. */
    @Test
    void anAddressForWhichNoThreadCanBeStartedHasFailed() throws IOException {
        AtomicInteger started = new AtomicInteger();
        Executor first = attempt -> {
            if (started.getAndIncrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            new Thread(attempt).start();
        };
        CountDownLatch second = new CountDownLatch(1);
        Executor told = attempt -> {
            try {
                first.execute(attempt);
            } finally {
                if (started.get() == 2) {
                    second.countDown();
                }
            }
        };
        Opened opened = Route.first(
                "name",
                List.of(FOUR, SIX),
                to -> {
                    await(second);
                    return new Opened(to);
                },
                told);
        assertThat(opened.to).isSameAs(FOUR);
        assertThatThrownBy(() -> Route.first("name", List.of(FOUR, SIX), Opened::new, attempt -> {
                    throw new OutOfMemoryError("unable to create native thread");
                }))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("127.0.0.1: ", "0:0:0:0:0:0:0:1: ", "unable to create native thread");
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Test
    void anAddressThatIsSilentDelaysNoOtherAndItsLateConnectionIsClosed() throws Exception {
        CountDownLatch other = new CountDownLatch(1);
        Opened late = new Opened(FOUR);
        Opened opened = Route.first(
                "name",
                List.of(FOUR, SIX),
                to -> {
                    if (to == SIX) {
                        return new Opened(to);
                    }
                    await(other);
                    return late;
                },
                THREADS);
        assertThat(opened.to).isSameAs(SIX);
        assertThat(late.closed.getCount()).isEqualTo(1);
        other.countDown();
        late.closed.await();
        assertThat(opened.closed.getCount()).isEqualTo(1);
    }

    @Test
    void eachAddressThatFailsIsNamed() {
        assertThatThrownBy(() -> Route.first(
                        "name",
                        List.of(FOUR, SIX),
                        to -> {
                            throw new ConnectException("Connection refused by " + to.getPort());
                        },
                        THREADS))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll(
                        "no address of name has a server: ",
                        "127.0.0.1: ",
                        "0:0:0:0:0:0:0:1: ",
                        "Connection refused by 80");
    }

    /** Opens a file of a server that listens on one of the two addresses of its name. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void aServerOfOneFamilyIsReachedByANameOfBoth(String address, @TempDir Path folder) throws Exception {
        ServerSocket listening = null;
        try {
            listening = new ServerSocket(0, 50, InetAddress.getByName(address));
        } catch (IOException e) {
            Require.backend("ipv6", "no address " + address + ": " + e.getMessage());
        }
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 both.example\n::1 both.example\n");
        try (RangeServer server = new RangeServer(new byte[1000], "http", Objects.requireNonNull(listening))) {
            Process opening = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-Djdk.net.hosts.file=" + hosts,
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            ProxyTest.Opening.class.getName(),
                            server.uri().toString().replace("localhost", "both.example"))
                    .redirectErrorStream(true)
                    .start();
            String output = new String(opening.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(opening.waitFor()).as(output).isZero();
            assertThat(output).contains("1000 bytes");
        }
    }
}
