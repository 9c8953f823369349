// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Uploads whose end is not the end of the protocol: nothing of them may replace the file. */
class BrokenUploadTest {

    private static final String GOOD = "186a0\r\n" + "x".repeat(100_000) + "\r\n";

    @TempDir
    Path folder;

    private Backend backend;
    private TestServer server;

    @BeforeEach
    void open() throws IOException {
        backend = Backends.open("host");
        server = new TestServer(new HttpFiles(backend), folder);
        Files.writeString(folder.resolve("file"), "old");
    }

    @AfterEach
    void close() {
        server.close();
        backend.close();
    }

    /**
     * Sends a request, its head together with the first part of its body: a server that answers after the head and
     * closes would otherwise reset the connection, and the answer with it. Then the other parts; returns all of the
     * answer.
     */
    private String put(String headers, String... parts) throws IOException {
        try (Socket socket = new Socket("localhost", server.port())) {
            OutputStream out = socket.getOutputStream();
            String head = "PUT /file HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n";
            for (String part : parts) {
                out.write((head + part).getBytes(StandardCharsets.US_ASCII));
                out.flush();
                head = "";
            }
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (java.net.SocketException reset) { // by a server that has not read everything
            return "";
        }
    }

    static Stream<String> broken() {
        return Stream.of(
                GOOD + "zz\r\n",
                "5\r\nhello\r\nzz\r\n",
                "zz\r\n",
                "-5\r\nhello\r\n0\r\n\r\n",
                "5\r\nhello\r\nffffffffffffffff\r\nxx",
                "5\r\nhelloXX0\r\n\r\n",
                "5;" + "a".repeat(20_000) + "\r\nhello\r\n0\r\n\r\n",
                "5\r\nhello\r\n0\r\nX: " + "a".repeat(20_000) + "\r\n\r\n",
                "5\r\nhello\r\n0\r\n\0bad\r\n\r\n",
                GOOD.repeat(20) + "zz\r\n");
    }

    @ParameterizedTest
    @MethodSource("broken")
    void aChunkedBodyThatIsMalformedLeavesTheOldFile(String body) throws IOException {
        put("Transfer-Encoding: chunked\r\n", body);
        assertOnlyOld();
    }

    private void assertOnlyOld() throws IOException {
        server.settled().block();
        assertThat(folder.resolve("file")).hasContent("old");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).hasSize(1);
        }
    }

    @Test
    void aWellFormedChunkedBodyBecomesTheFile() throws IOException {
        assertThat(put("Transfer-Encoding: chunked\r\n", GOOD, "0\r\nX: trailer\r\n\r\n"))
                .startsWith("HTTP/1.1 201");
        assertThat(folder.resolve("file")).hasContent("x".repeat(100_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip, chunked", "Chunked, Chunked", "deflate,chunked"})
    void aBodyInAnotherTransferCodingIsNotImplemented(String codings) throws IOException {
        assertThat(put("Transfer-Encoding: " + codings + "\r\n", "0\r\n\r\n")).startsWith("HTTP/1.1 501");
        assertOnlyOld();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "identity, br"})
    void aBodyInAContentCodingIsNotSupported(String codings) throws IOException {
        assertThat(put("Content-Length: 5\r\nContent-Encoding: " + codings + "\r\n", "hello"))
                .startsWith("HTTP/1.1 415");
        assertOnlyOld();
    }

    @Test
    void identityIsNoCoding() throws IOException {
        assertThat(put("Content-Length: 5\r\nContent-Encoding: identity\r\n", "hello"))
                .startsWith("HTTP/1.1 201");
        assertThat(folder.resolve("file")).hasContent("hello");
    }
}
