// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.penstock.cli.testing.CommandLineRun;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands on the URLs of {@code penstock serve}. */
class UrlCommandsTest {

    private static final String HEADER =
            "{\"a\":{\"dtype\":\"F32\",\"shape\":[1024,1024],\"data_offsets\":[0,4194304]},"
                    + "\"b\":{\"dtype\":\"U8\",\"shape\":[5000001],\"data_offsets\":[4194304,9194305]}}";

    @TempDir
    private Path served;

    @TempDir
    private Path here;

    private Served server;
    private String url;
    private byte[] model;

    @BeforeEach
    void start() throws IOException {
        server = new Served(served);
        url = "http://127.0.0.1:" + server.address().getPort() + "/";
        byte[] header = HEADER.getBytes(StandardCharsets.US_ASCII);
        byte[] data = new byte[9194305];
        new Random(9).nextBytes(data);
        model = ByteBuffer.allocate(Long.BYTES + header.length + data.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(header.length)
                .put(header)
                .put(data)
                .array();
        Files.write(served.resolve("model.safetensors"), model);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void aFileIsCopiedAndVerified() {
        Path copy = here.resolve("copy");
        CommandLineRun run = CommandLineRun.of("copy", url + "model.safetensors", copy, "--verify");
        assertThat(run.err()).isEmpty();
        assertThat(copy).hasBinaryContent(model);
        assertThat(run.out()).contains("path in [REMOTE], out [", "SHA-256 ");
    }

    @Test
    void anEmptyFileIsCopied() throws IOException {
        server.file("empty", 0);
        Path copy = here.resolve("copy");
        CommandLineRun run = CommandLineRun.of("copy", url + "empty", copy);
        assertThat(run.err()).isEmpty();
        assertThat(copy).isEmptyFile();
    }

    /** Each opening asks for the length anew; a copy of the old length would be neither version. */
    @Test
    void aFileThatGrowsBetweenItsOpeningsIsNotCopiedInPart() throws IOException {
        AtomicInteger opened = new AtomicInteger();
        HttpServer growing = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        growing.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Range", "bytes 0-0/" + Math.min(2, opened.incrementAndGet()));
            exchange.sendResponseHeaders(206, 1);
            exchange.getResponseBody().write('x');
            exchange.close();
        });
        growing.start();
        try {
            String log = "http://127.0.0.1:" + growing.getAddress().getPort() + "/log";
            CommandLineRun run = CommandLineRun.of("copy", log, here.resolve("copy"));
            assertThat(run.out()).isEmpty();
            assertThat(run.complaints())
                    .singleElement()
                    .asString()
                    .contains(log + " has changed on its host: it has 2 bytes, and had 1 when the copy began");
            assertThat(here).isEmptyDirectory();
        } finally {
            growing.stop(0);
        }
    }

    /** The last name of a URL is decoded: {@code ..%2Fx} was written beside the folder. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "..%2Fescaped",
                "%2Fescaped",
                "%2E%2E",
                ".",
                "a%2F..%2F..%2Fescaped",
                "a%5Cb",
                "a%00b",
                "a%FF",
                ""
            })
    void aNameThatMayLeadOutOfAFolderIsRefused(String name) throws IOException {
        HttpServer any = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        any.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Range", "bytes 0-0/1");
            exchange.sendResponseHeaders(206, 1);
            exchange.getResponseBody().write('x');
            exchange.close();
        });
        any.start();
        try {
            Path folder = Files.createDirectory(here.resolve("folder"));
            String root = name.startsWith("%2F") ? here.toString().replace("/", "%2F") : "";
            String file = "http://127.0.0.1:" + any.getAddress().getPort() + "/a/" + root + name;
            CommandLineRun run = CommandLineRun.of("copy", file, folder);
            assertThat(here.resolve("escaped")).doesNotExist();
            assertThat(folder).isEmptyDirectory();
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.complaints()[0])
                    .contains("cannot be the name of a file in " + folder + "; name it: copy SRC");
            assertThat(CommandLineRun.of("copy", url + "model%2Esafetensors", folder)
                            .err())
                    .isEmpty();
            assertThat(folder.resolve("model.safetensors")).hasBinaryContent(model);
        } finally {
            any.stop(0);
        }
    }

    @Test
    void arraysAreListedAndLoaded() {
        CommandLineRun listed = CommandLineRun.of("ls", url + "model.safetensors");
        assertThat(listed.err()).isEmpty();
        assertThat(listed.out()).contains("2 arrays, 9194305 bytes (8.8 MiB), safetensors");
        CommandLineRun loaded = CommandLineRun.of("load", url + "model.safetensors", "--verify");
        assertThat(loaded.err()).isEmpty();
        assertThat(loaded.out()).contains("REMOTE", "verified");
    }

    @Test
    void whatCannotBeReadIsTold() {
        assertThat(CommandLineRun.of("copy", url + "absent", here.resolve("copy"))
                        .complaints())
                .singleElement()
                .asString()
                .contains("there is no file " + url + "absent");
        // A module opens these, for programs.
        assertThat(CommandLineRun.of("ls", "ucx://localhost:4000/x").complaints()[0])
                .contains("the commands take no ucx: URLs");
        assertThat(CommandLineRun.of("ls", "gopher://localhost/x").complaints()[0])
                .contains("the commands take no gopher: URLs");
        assertThat(CommandLineRun.of("copy", served.resolve("model.safetensors"), url + "x")
                        .complaints())
                .singleElement()
                .asString()
                .contains("DST must be a path, or an s3: URL");
    }

    /** Logs of scripts repeat it. */
    @Test
    void whatMayBeSecretInAWrongUrlIsInNoMessage() {
        assertThat(CommandLineRun.of("ls", "https://user:secret@localhost/a b?signature=secret")
                        .complaints()[0])
                .contains("'https://localhost/a b' is not a URL: Illegal character in path at index ")
                .doesNotContain("secret");
        assertThat(CommandLineRun.of("ls", "https://localhost/a?signature=secret secret")
                        .complaints()[0])
                .contains("'https://localhost/a' is not a URL: Illegal character in query at index ")
                .doesNotContain("secret");
    }

    /** "permission denied" was all that was printed of a signature that is wrong, and of a token that has expired. */
    @Test
    void theAnswerOfAServerThatRefusesIsTold() throws IOException {
        HttpServer refusing = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        refusing.createContext("/", exchange -> {
            exchange.sendResponseHeaders(403, -1);
            exchange.close();
        });
        refusing.start();
        try {
            String file = "http://127.0.0.1:" + refusing.getAddress().getPort() + "/x";
            assertThat(CommandLineRun.of("copy", file, here.resolve("copy")).complaints()[0])
                    .endsWith(file + ": permission denied: GET -> FORBIDDEN (403)");
        } finally {
            refusing.stop(0);
        }
    }

    /** It reads from the start to the end. */
    @Test
    void aFileOfAServerWithoutRangesIsCopied() throws IOException {
        byte[] data = new byte[20_000_000];
        new Random(3).nextBytes(data);
        HttpServer plain = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        AtomicInteger requests = new AtomicInteger();
        plain.createContext("/", exchange -> {
            requests.incrementAndGet();
            exchange.sendResponseHeaders(200, data.length);
            try (exchange) {
                exchange.getResponseBody().write(data);
            }
        });
        plain.start();
        try {
            String file = "http://127.0.0.1:" + plain.getAddress().getPort() + "/x";
            Path copy = here.resolve("copy");
            assertThat(CommandLineRun.of("copy", file, copy).complaints()).isEmpty();
            assertThat(Files.readAllBytes(copy)).isEqualTo(data);
            assertThat(requests.get())
                    .as("as often as the file was opened, and the copy began")
                    .isLessThan(6);
        } finally {
            plain.stop(0);
        }
    }
}
