// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Raw sockets that say what no browser does; time limits are tested in {@link TimeLimitsTest}, with a clock of its own.
 */
class HostileClientsTest {

    private static final int BIG_BYTES = 8 << 20; // more than two sockets hold
    private static final Duration LONG = Duration.ofHours(1);

    private Path root;
    private Served served;
    private byte[] small;

    @BeforeEach
    void serve(@TempDir Path folder) throws IOException {
        root = folder;
        served = new Served(folder);
        small = served.file("small", 1000);
    }

    @AfterEach
    void close() {
        served.close();
    }

    private static String get(String target, String... headers) {
        return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + String.join("", List.of(headers)) + "\r\n";
    }

    @Test
    void allPipelinedRequestsAreAnsweredAlsoIfTheLastClosesTheConnection() throws IOException {
        byte[] big = served.file("big", BIG_BYTES);
        String close = "Connection: close\r\n";
        try (Connection connection = served.connect()) {
            connection.sendRaw(get("/small") + get("/big") + get("/none") + get("/small", close) + get("/small"));
            assertThat(connection.readAnswer().body()).isEqualTo(small);
            Connection.Answer second = connection.readAnswer();
            assertThat(second.body()).isEqualTo(big);
            assertThat(second.header("connection")).isNotEqualTo("close");
            assertThat(connection.readAnswer().status()).isEqualTo(404);
            Connection.Answer last = connection.readAnswer();
            assertThat(last.body()).isEqualTo(small);
            assertThat(last.header("connection")).isEqualTo("close");
            assertThat(connection.read()).as("nothing behind the last").isEqualTo(-1);
        }
    }

    @Test
    void thousandsOfPipelinedRequestsAreAnswered() throws IOException {
        int requests = 5000; // more than one read of the server's brings
        String one = get("/none");
        try (Connection connection = served.connect()) {
            Thread sender = new Thread(() -> {
                try {
                    connection.sendRaw(one.repeat(requests));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            sender.start();
            for (int i = 0; i < requests; i++) {
                assertThat(connection.readAnswer().status()).isEqualTo(404);
            }
        }
    }

    @Test
    void aClientThatHasClosedItsSideIsAnsweredAndThenDisconnected() throws IOException {
        byte[] big = served.file("big", BIG_BYTES);
        try (Connection connection = served.connect()) {
            connection.sendRaw(get("/small") + get("/big"));
            connection.shutDownOutput();
            assertThat(connection.readAnswer().body()).isEqualTo(small);
            assertThat(connection.readAnswer().body()).isEqualTo(big);
            assertThat(connection.read()).isEqualTo(-1);
        }
        try (Connection connection = served.connect()) {
            assertThat(connection.ask("GET", "/small").status()).isEqualTo(200);
            connection.shutDownOutput(); // between two requests
            assertThat(connection.read()).isEqualTo(-1);
        }
        try (Connection connection = served.connect()) {
            connection.shutDownOutput(); // before any
            assertThat(connection.read()).isEqualTo(-1);
        }
    }

    /** Its socket is full and empty again many times, and each time the server waits for it. */
    @Test
    void aSlowClientThatHasClosedItsSideIsAnsweredToo() throws IOException, InterruptedException {
        byte[] big = served.file("big", BIG_BYTES);
        try (Connection connection = new Connection(served.address(), 64 << 10)) {
            connection.sendRaw(get("/big"));
            connection.shutDownOutput();
            int length = Integer.parseInt(connection.readHead().header("content-length"));
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            while (body.size() < length) {
                byte[] part = connection.read(Math.min(1 << 20, length - body.size()));
                assertThat(part).as("after " + body.size() + " bytes").isNotEmpty();
                body.write(part);
                Thread.sleep(20); // the server fills the socket meanwhile
            }
            assertThat(body.toByteArray()).isEqualTo(big);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /small HTTP/1.1\r\n\r\n",
                "GET /small HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
                "GET /small HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
                "GET /small HTTP/1.1\r\nHost: a b\r\n\r\n",
                "GET /small HTTP/1.1\r\nHost: a/b\r\n\r\n",
                "GET /small HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
                "GET /small HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tb: c\r\n\r\n",
                "GET /small HTTP/1.1\r\n Host: localhost\r\n\r\n",
                "GET /small HTTP/1.1\nHost: localhost\n X: a\n\n"
            })
    void ambiguousRequestsAreRefusedAndTheConnectionEnds(String request) throws IOException {
        try (Connection connection = served.connect()) {
            connection.sendRaw(get("/small") + request + get("/small"));
            assertThat(connection.readAnswer().status()).isEqualTo(200);
            assertThat(connection.readAnswer().status()).isEqualTo(400);
            assertThat(connection.read()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /small HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                "GET /small HTTP/1.1\r\nHost:\r\n\r\n",
                "GET /small HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
                "GET /small HTTP/1.1\r\nX:\t a \r\nHost: localhost\r\n\r\n",
                "GET http://x/small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
            })
    void otherUnusualRequestsAreAnswered(String request) throws IOException {
        try (Connection connection = served.connect()) {
            connection.sendRaw(request + get("/small"));
            assertThat(connection.readAnswer().status()).isEqualTo(200);
            assertThat(connection.readAnswer().body()).isEqualTo(small);
        }
    }

    /** Without the header a client of HTTP/1.0 takes the connection for ended by the answer (RFC 9112, C.2.2). */
    @Test
    void aConnectionOfHttp10ThatIsKeptSaysSo() throws IOException {
        for (String path : new String[] {"/small", "/absent"}) {
            try (Connection connection = served.connect()) {
                connection.sendRaw("GET " + path + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
                assertThat(connection.readAnswer().header("connection")).isEqualTo("keep-alive");
                connection.sendRaw("GET " + path + " HTTP/1.0\r\n\r\n");
                assertThat(connection.readAnswer().header("connection")).isNotEqualTo("keep-alive");
                assertThat(connection.read()).isEqualTo(-1);
            }
        }
        try (Connection connection = served.connect()) {
            connection.sendRaw(get("/small"));
            assertThat(connection.readAnswer().header("connection")).isNotEqualTo("keep-alive");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"})
    void aRequestWithABodyIsTheLastOfItsConnection(String body) throws IOException {
        for (String method : new String[] {"GET", "POST"}) {
            try (Connection connection = served.connect()) {
                connection.sendRaw(method + " /small HTTP/1.1\r\nHost: localhost\r\n" + body);
                Connection.Answer answer = connection.readHead();
                assertThat(answer.status()).isEqualTo(method.equals("GET") ? 413 : 405);
                assertThat(answer.header("connection")).isEqualTo("close");
            }
        }
    }

    @Test
    void furtherConnectionsWaitUntilOneEnds() throws IOException {
        Limits two = new Limits(2, LONG, LONG, LONG);
        try (Served limited = new Served(new ServedDirectory(root), two);
                Connection first = limited.connect();
                Connection second = limited.connect();
                Connection third = limited.connect()) {
            assertThat(first.ask("GET", "/small").status()).isEqualTo(200);
            assertThat(second.ask("GET", "/small").status()).isEqualTo(200);
            third.send("GET", "/small");
            for (int i = 0; i < 100; i++) { // time enough for a server that would accept it
                assertThat(first.ask("GET", "/small").status()).isEqualTo(200);
                assertThat(third.available()).isZero();
            }
            second.shutDownOutput();
            assertThat(third.readAnswer().body()).isEqualTo(small);
            assertThat(first.ask("GET", "/small").status()).isEqualTo(200);
        }
    }

    @Test
    void connectionsOneAfterAnotherDoNotUseUpTheLimit() throws IOException {
        Limits one = new Limits(1, LONG, LONG, LONG);
        try (Served limited = new Served(new ServedDirectory(root), one)) {
            List<Integer> answers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                answers.add(limited.ask("GET", "/small").status());
            }
            assertThat(answers).containsOnly(200).hasSize(20);
        }
    }
}
