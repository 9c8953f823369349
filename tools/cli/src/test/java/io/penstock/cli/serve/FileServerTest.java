// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

class FileServerTest {

    private static final String OLD = "Sun, 06 Nov 1994 08:49:37 GMT";
    private static final String NEWER = "Sun, 06 Nov 1994 08:49:38 GMT";
    private static final String OLDER = "Sun, 06 Nov 1994 08:49:36 GMT";

    private Served served;
    private byte[] data; // several chunks and a bit

    @BeforeEach
    void serve(@TempDir Path outside) throws IOException {
        Path root = Files.createDirectory(outside.resolve("root"));
        Files.writeString(outside.resolve("secret"), "secret");
        Files.createDirectory(outside.resolve("root-too"));
        Files.writeString(outside.resolve("root-too/secret"), "secret");
        served = new Served(root);
        data = served.file("data.bin", 5 * Served.CHUNK + 17);
        Files.setLastModifiedTime(root.resolve("data.bin"), FileTime.from(Instant.ofEpochSecond(784_111_777)));
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void getSendsTheFileAndHeadItsHeaders() throws IOException {
        try (Connection connection = served.connect()) {
            Connection.Answer get = connection.ask("GET", "/data.bin");
            assertThat(get.status()).isEqualTo(200);
            assertThat(get.body()).isEqualTo(data);
            assertThat(get.header("content-type")).isEqualTo("application/octet-stream");
            assertThat(get.header("accept-ranges")).isEqualTo("bytes");
            assertThat(get.header("last-modified")).isEqualTo(OLD);
            Connection.Answer head = connection.ask("HEAD", "/data.bin", "Range: bytes=0-1");
            assertThat(head.status()).as("only GET has ranges").isEqualTo(200);
            assertThat(head.header("content-length")).isEqualTo(get.header("content-length"));
            assertThat(head.header("etag")).isEqualTo(get.header("etag")).startsWith("\"");
            assertThat(connection.ask("GET", "/data.bin", "Range: bytes=0-0").body())
                    .as("nothing follows the headers of HEAD")
                    .containsExactly(data[0]);
        }
    }

    /** RFC 9110, 8.8.2.1: a file may be newer than the clock, {@code Last-Modified} must not be. */
    @Test
    void aFileOfTheFutureIsAsOldAsTheResponse() throws IOException {
        Path file = served.root.resolve("data.bin");
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2999-01-01T00:00:00Z")));
        Connection.Answer get = served.ask("GET", "/data.bin");
        assertThat(get.status()).isEqualTo(200);
        assertThat(get.header("last-modified")).isEqualTo(get.header("date"));
        assertThat(served.ask("GET", "/data.bin", "If-Modified-Since: " + get.header("last-modified"))
                        .status())
                .as("the date of the file is not known")
                .isEqualTo(200);
    }

    @Test
    void anEmptyFileIsSentToo() throws IOException {
        served.file("empty.txt", 0);
        Connection.Answer answer = served.ask("GET", "/empty.txt");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.header("content-type")).isEqualTo("text/plain; charset=utf-8");
        assertThat(served.ask("GET", "/empty.txt", "Range: bytes=0-").status()).isEqualTo(416);
        Connection.Answer suffix = served.ask("GET", "/empty.txt", "Range: bytes=-1");
        assertThat(suffix.status()).isEqualTo(200);
        assertThat(suffix.header("content-length")).isEqualTo("0");
    }

    @Test
    void otherMethodsAreNotAllowed() throws IOException {
        for (String method : new String[] {"POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
            Connection.Answer answer = served.ask(method, "/data.bin");
            assertThat(answer.status()).as(method).isEqualTo(405);
            assertThat(answer.header("allow")).isEqualTo("GET, HEAD");
        }
    }

    @Test
    void aRangeIsSentAsRequested() throws IOException {
        assertRange("bytes=0-0", 0, 1);
        assertRange("bytes=65530-65545", 65530, 65546);
        assertRange("bytes=100-", 100, data.length);
        assertRange("bytes=-5", data.length - 5, data.length);
        assertRange("bytes=" + (data.length - 1) + "-999999999", data.length - 1, data.length);
        assertRange("bytes=0-9,99999999-", 0, 10);
    }

    private void assertRange(String header, int from, int to) throws IOException {
        Connection.Answer answer = served.ask("GET", "/data.bin", "Range: " + header);
        assertThat(answer.status()).as(header).isEqualTo(206);
        assertThat(answer.header("content-range")).isEqualTo("bytes " + from + "-" + (to - 1) + "/" + data.length);
        assertThat(answer.body()).isEqualTo(Arrays.copyOfRange(data, from, to));
    }

    @Test
    void severalRangesComeAsMultipart() throws IOException {
        int[][] ranges = {{70_000, 200_000}, {0, 1}, {data.length - 4, data.length}};
        Connection.Answer answer = served.ask("GET", "/data.bin", "Range: bytes=70000-199999, 0-0, -4");
        assertThat(answer.status()).isEqualTo(206);
        String type = answer.header("content-type");
        assertThat(type).startsWith("multipart/byteranges; boundary=");
        String boundary = type.substring(type.indexOf('=') + 1);
        StringBuilder expected = new StringBuilder();
        for (int[] range : ranges) {
            expected.append("\r\n--" + boundary + "\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes "
                    + range[0] + "-" + (range[1] - 1) + "/" + data.length + "\r\n\r\n");
            expected.append(new String(Arrays.copyOfRange(data, range[0], range[1]), StandardCharsets.ISO_8859_1));
        }
        assertThat(answer.text().equals(expected + "\r\n--" + boundary + "--\r\n"))
                .as("parts in the order asked for")
                .isTrue();
    }

    @Test
    void rangesBehindTheEndAreNotSatisfiable() throws IOException {
        Connection.Answer answer = served.ask("GET", "/data.bin", "Range: bytes=" + data.length + "-");
        assertThat(answer.status()).isEqualTo(416);
        assertThat(answer.header("content-range")).isEqualTo("bytes */" + data.length);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=2-1", "bytes=x-y", "lines=0-1", "bytes=", "bytes=0-,0-"})
    void rangesThatMakeNoSenseAreIgnored(String range) throws IOException {
        Connection.Answer answer = served.ask("GET", "/data.bin", "Range: " + range);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body()).hasSize(data.length);
    }

    @Test
    void ifNoneMatchSparesTheClientWhatItHas() throws IOException {
        String tag = served.ask("HEAD", "/data.bin").header("etag");
        for (String match : new String[] {tag, "W/" + tag, "\"a,b\", " + tag, "*"}) {
            Connection.Answer answer = served.ask("GET", "/data.bin", "If-None-Match: " + match);
            assertThat(answer.status()).as(match).isEqualTo(304);
            assertThat(answer.header("etag")).isEqualTo(tag);
        }
        assertThat(status("If-None-Match: \"other\"")).isEqualTo(200);
        assertThat(status("If-None-Match: \"other\"", "If-Modified-Since: " + NEWER))
                .as("a date does not count beside a tag")
                .isEqualTo(200);
    }

    @Test
    void ifMatchRefusesAnotherVersion() throws IOException {
        String tag = served.ask("HEAD", "/data.bin").header("etag");
        assertThat(status("If-Match: " + tag)).isEqualTo(200);
        assertThat(status("If-Match: *")).isEqualTo(200);
        assertThat(status("If-Match: W/" + tag)).as("compared strongly").isEqualTo(412);
        assertThat(status("If-Match: \"other\"")).isEqualTo(412);
    }

    @Test
    void datesAreConditionsToo() throws IOException {
        assertThat(status("If-Modified-Since: " + OLD)).isEqualTo(304);
        assertThat(status("If-Modified-Since: " + OLDER)).isEqualTo(200);
        assertThat(status("If-Modified-Since: yesterday")).isEqualTo(200);
        assertThat(status("If-Unmodified-Since: " + OLD)).isEqualTo(200);
        assertThat(status("If-Unmodified-Since: " + OLDER)).isEqualTo(412);
    }

    @Test
    void ifRangeSendsAllOfAnotherVersion() throws IOException {
        String tag = served.ask("HEAD", "/data.bin").header("etag");
        String range = "Range: bytes=0-1";
        assertThat(status(range, "If-Range: " + tag)).isEqualTo(206);
        assertThat(status(range, "If-Range: \"other\"")).isEqualTo(200);
        assertThat(status(range, "If-Range: W/" + tag)).as("compared strongly").isEqualTo(200);
        assertThat(status(range, "If-Range: " + OLD)).isEqualTo(206);
        assertThat(status(range, "If-Range: " + NEWER)).as("compared exactly").isEqualTo(200);
    }

    private int status(String... headers) throws IOException {
        return served.ask("GET", "/data.bin", headers).status();
    }

    @Test
    void theTagChangesWithTheFileEvenIfTimeAndSizeAreSetBack() throws IOException {
        String before = served.ask("HEAD", "/data.bin").header("etag");
        Path file = served.root.resolve("data.bin");
        FileTime time = Files.getLastModifiedTime(file);
        Object changed = Files.getAttribute(file, "unix:ctime");
        data[0]++;
        do { // until the clock of the file system has moved on
            Files.write(file, data);
            Files.setLastModifiedTime(file, time);
        } while (Files.getAttribute(file, "unix:ctime").equals(changed));
        Connection.Answer after = served.ask("GET", "/data.bin", "If-None-Match: " + before);
        assertThat(after.status()).isEqualTo(200);
        assertThat(after.body()).isEqualTo(data);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/../secret",
                "/../root-too/secret",
                "/%2e%2e/secret",
                "/..%2fsecret",
                "/x/../../secret",
                "/..%5csecret",
                "/%c0%ae%c0%ae/secret",
                "/data.bin%00",
                "/%00",
                "/%zz"
            })
    void escapesAreBadRequests(String target) throws IOException {
        assertThat(served.ask("GET", target).status()).isEqualTo(400);
    }

    @Test
    void linksThatLeaveTheDirectoryLeadNowhere() throws IOException {
        Files.createSymbolicLink(served.root.resolve("out"), Path.of("../secret"));
        Files.createSymbolicLink(served.root.resolve("up"), Path.of(".."));
        Files.createSymbolicLink(served.root.resolve("beside"), Path.of("../root-too"));
        Files.createSymbolicLink(served.root.resolve("loop"), Path.of("loop"));
        Files.createSymbolicLink(served.root.resolve("in"), Path.of("data.bin"));
        for (String target : new String[] {"/out", "/up/secret", "/beside/secret", "/loop", "/up/root/../secret"}) {
            assertThat(served.ask("GET", target).status()).as(target).isIn(400, 404);
        }
        assertThat(served.ask("GET", "/in").body()).isEqualTo(data);
    }

    @Test
    void onlyRegularFilesAreThere() throws Exception {
        Files.createDirectory(served.root.resolve("folder"));
        Process pipe = new ProcessBuilder("mkfifo", served.root.resolve("pipe").toString()).start();
        assertThat(pipe.waitFor()).isZero();
        for (String target :
                new String[] {"/missing", "/folder", "/folder/", "/pipe", "/data.bin/", "/data.bin/x", "//data.bin/"}) {
            assertThat(served.ask("GET", target).status()).as(target).isEqualTo(404);
        }
        assertThat(served.ask("GET", "/" + "x".repeat(300)).status())
                .as("a name too long")
                .isEqualTo(404);
    }

    @Test
    void whatIsNoFileHasAHintButNoListing() throws IOException {
        Files.createDirectory(served.root.resolve("folder"));
        var root = served.ask("GET", "/");
        assertThat(root.status()).isEqualTo(200);
        assertThat(root.header("content-type")).isEqualTo("text/plain; charset=utf-8");
        assertThat(root.text()).contains("GET /PATH", "Folders are not listed").doesNotContain("data.bin");
        var folder = served.ask("GET", "/folder/");
        assertThat(folder.status()).isEqualTo(404);
        assertThat(folder.text()).isEqualTo(root.text());
        assertThat(served.ask("HEAD", "/").text()).isEmpty();
        assertThat(served.ask("GET", "/data.bin").body()).as("behind them").isEqualTo(data);
    }

    @Test
    void aFileThatShrinksEndsTheConnectionInsteadOfTheResponse() throws IOException {
        int size = 64 << 20; // more than sockets hold, so that the server cannot be done before it shrinks
        Path file = served.root.resolve("shrinking");
        try (var channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                Connection connection = served.connect()) {
            channel.write(ByteBuffer.allocate(1), size - 1);
            connection.send("GET", "/shrinking");
            assertThat(connection.readHead().header("content-length")).isEqualTo("" + size);
            channel.truncate(1);
            assertThatThrownBy(() -> connection.skip(size, new byte[1 << 16]))
                    .isInstanceOfAny(EOFException.class, SocketException.class);
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws IOException {
        try (Connection connection = served.connect()) {
            for (int i = 0; i < 20; i++) {
                connection.send("GET", "/data.bin", "Range: bytes=" + i + "-" + i);
            }
            for (int i = 0; i < 20; i++) {
                assertThat(connection.readHead().status()).isEqualTo(206);
                assertThat((byte) connection.read()).isEqualTo(data[i]);
            }
        }
    }

    @Test
    void namesThatBeginWithADotAreHidden() throws IOException {
        Files.writeString(served.root.resolve(".env"), "secret");
        Files.createDirectory(served.root.resolve(".git"));
        Files.writeString(served.root.resolve(".git/config"), "secret");
        Files.createSymbolicLink(served.root.resolve("shown"), Path.of(".git/config"));
        Files.createSymbolicLink(served.root.resolve(".link"), Path.of("data.bin"));
        for (String target : new String[] {"/.env", "/.git/config", "/shown", "/.link", "/%2eenv"}) {
            assertThat(served.ask("GET", target).status()).as(target).isEqualTo(404);
        }
        try (Served all = new Served(new ServedDirectory(served.root, true), Limits.DEFAULT)) {
            assertThat(all.ask("GET", "/.env").text()).isEqualTo("secret");
            assertThat(all.ask("GET", "/.git/config").text()).isEqualTo("secret");
            assertThat(all.ask("GET", "/../secret").status()).isEqualTo(400);
        }
    }

    @Test
    void aPortInUseIsReported() throws IOException {
        InetSocketAddress taken = new InetSocketAddress(
                InetAddress.getLoopbackAddress(), served.address().getPort());
        ServedDirectory directory = new ServedDirectory(served.root);
        assertThatThrownBy(() ->
                        FileServer.start(taken, List.of(), directory, (file, response) -> Mono.empty(), Limits.DEFAULT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot listen on")
                .hasMessageContaining("in use");
    }

    /** As where the client leaves between a failure and its delivery on another thread. */
    @Test
    void anErrorBehindTheEndOfARequestIsNotLogged() throws IOException {
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        Contents failing = (file, response) -> Mono.deferContextual(context -> {
            Operators.onErrorDropped(new IOException("late"), Context.of(context));
            return Mono.error(new NoSuchFileException("in time"));
        });
        try (FileServer server = FileServer.start(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        List.of(),
                        new ServedDirectory(served.root),
                        failing,
                        Limits.DEFAULT);
                Connection connection = Connection.to(server.address())) {
            assertThat(connection.ask("GET", "/data.bin").status()).isEqualTo(404);
            assertThat(dropped).isEmpty();
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }
}
