// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ProviderNotFoundException;
import java.nio.file.ReadOnlyFileSystemException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Files on a server that goes wrong: what arrives, what is requested again, and what fails how. */
class HttpFileTest extends ServedFile {

    private static final int BYTES = 9_000_001; // three ranges, the last one odd
    private static final byte[] DATA = data(BYTES);

    HttpFileTest() {
        super(DATA);
    }

    private static byte[] data(int bytes) {
        byte[] data = new byte[bytes];
        new Random(21).nextBytes(data);
        return data;
    }

    /** Reads {@code bytes} from {@code offset} and returns them, up to what arrived. */
    private byte[] read(StorageFile file, long offset, int bytes) {
        try (DeviceBuffer buffer = get(backend.allocate(bytes))) {
            Completion completion = get(backend.submit(Transfer.read(file.region(offset, bytes), buffer.all())));
            assertThat(completion.path()).isEqualTo(TransferPath.REMOTE);
            ByteBuffer arrived = ByteBuffer.allocateDirect((int) completion.bytes());
            if (completion.bytes() > 0) {
                get(buffer.download(0, arrived.duplicate()));
            }
            byte[] array = new byte[arrived.capacity()];
            arrived.get(array);
            return array;
        }
    }

    private byte[] readAll() {
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            return read(file, 0, BYTES);
        }
    }

    @Test
    void aFileArrivesWholeByRangesOnKeptConnections() {
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(file.size()).isEqualTo(BYTES);
            assertThat(file.uri()).isEqualTo(server.uri());
            assertThat(file.path().toString()).endsWith("file.bin");
            for (int i = 0; i < 3; i++) {
                assertThat(read(file, 0, BYTES)).isEqualTo(DATA);
            }
        }
        assertThat(server.requests).hasSize(1 + 3 * 3);
        assertThat(server.requests.subList(1, 10))
                .allMatch(request -> "\"one\"".equals(request.headers().get("if-match")));
        assertThat(server.connections).hasValueLessThanOrEqualTo(3 + 3);
    }

    @Test
    void aReadIsShortWhereTheFileEndsAndOfNothingBeyond() {
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(read(file, BYTES - 10, 4096)).hasSize(10);
            int before = server.requests.size();
            assertThat(read(file, BYTES, 4096)).isEmpty();
            assertThat(read(file, BYTES + 5L, 4096)).isEmpty();
            assertThat(server.requests).hasSize(before);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/group%2Fname/a%2Bb+c%25d;e", "//twice//", "/a%20b/?x=%2B/%2F", "/", "/%ff"})
    void theServerIsAskedForTheTargetThatTheUriHas(String target) {
        URI uri = server.uri(target);
        assertThat(Path.of(uri).toUri()).isEqualTo(uri);
        get(backend.openFile(uri)).close();
        get(backend.openFile(Path.of(uri))).close();
        assertThat(server.requests).extracting(RangeServer.Request::target).containsOnly(target);
    }

    @Test
    void charactersBeyondAsciiAreEscaped() {
        String name = "/\u65e5u\u0308/x"; // the umlaut in two characters, which stay two
        get(backend.openFile(server.uri(name + "?q=\u65e5"))).close();
        assertThat(server.requests)
                .extracting(RangeServer.Request::target)
                .containsExactly("/%E6%97%A5u%CC%88/x?q=%E6%97%A5");
    }

    @Test
    void namesOfPathsAreEscaped() {
        get(backend.openFile(Path.of(server.uri("/\u65e5/x")))).close();
        get(backend.openFile(Path.of(server.uri("/%2F/x")).resolveSibling("50% \u65e5")))
                .close();
        assertThat(server.requests)
                .extracting(RangeServer.Request::target)
                .containsExactly("/%E6%97%A5/x", "/%2F/50%25%20%E6%97%A5");
    }

    @Test
    void aRedirectionToBytesBeyondAsciiIsFollowed() {
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                return false;
            }
            byte[] location = "Location: /\u65e5\r\n".getBytes(StandardCharsets.UTF_8);
            to.write("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n".getBytes(StandardCharsets.US_ASCII));
            to.write(location);
            to.write("\r\n".getBytes(StandardCharsets.US_ASCII));
            return true;
        };
        get(backend.openFile(server.uri())).close();
        assertThat(server.requests.get(1).target()).isEqualTo("/%E6%97%A5");
    }

    @Test
    void anEmptyFileOpens() throws IOException {
        try (RangeServer empty = new RangeServer(new byte[0]);
                StorageFile file = get(backend.openFile(empty.uri()))) {
            assertThat(file.size()).isZero();
            assertThat(read(file, 0, 16)).isEmpty();
        }
    }

    @Test
    void aCutConnectionContinuesWhereItWas() {
        server.answer = (request, to) -> {
            if (request.number() == 2) {
                server.cut(request, to, 500_000);
            }
            return false;
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.requests).hasSize(5);
        RangeServer.Request cut = server.requests.stream()
                .filter(request -> request.number() == 2)
                .findFirst()
                .orElseThrow();
        assertThat(server.requests)
                .anyMatch(request -> request.from() == cut.from() + 500_000 && request.to() == cut.to());
    }

    @Test
    void aConnectionThatTheServerHasClosedIsReplaced() throws IOException {
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(read(file, 0, BYTES)).isEqualTo(DATA);
            server.cutAll();
            assertThat(read(file, 0, BYTES)).isEqualTo(DATA);
        }
    }

    @Test
    void aBusyServerIsAskedAgain() {
        server.answer = (request, to) -> {
            if (request.number() != 1 && request.number() != 3) {
                return false;
            }
            String status = request.number() == 1 ? "503 Service Unavailable" : "429 Too Many Requests";
            to.write(RangeServer.text(status, "Content-Length: 0", "Retry-After: 0"));
            return true;
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.requests).hasSize(6);
    }

    @Test
    void aServerThatStaysBusyIsATransientFailure() throws IOException {
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 2));
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                to.write(RangeServer.text("503 Slow Down", "Content-Length: 0"));
            }
            return request.number() > 0;
        };
        PenstockException failure = failure();
        assertThat(failure).isInstanceOf(TransientStorageException.class);
        assertThat(failure).hasMessageContainingAll("file.bin", "GET -> SLOW_DOWN (503)", "after 2 attempts");
    }

    /** The change is seen by the host, or, in an answer that was under way, by its tag. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aChangedFileFailsInsteadOfMixing(int changed) {
        server.answer = (request, to) -> {
            if (request.number() == changed) {
                server.etag = "\"two\"";
            }
            return false;
        };
        PenstockException failure = failure();
        assertThat(failure).isInstanceOf(PermanentStorageException.class);
        String refused = "GET -> PRECONDITION_FAILED \\(412\\)";
        String answer = changed == 1 ? refused : "(" + refused + "|GET -> PARTIAL_CONTENT \\(206\\))";
        assertThat(failure).hasMessageMatching("(?s).*" + answer + ".*has changed on its host.*");
    }

    @Test
    void aChangedFileFailsAlsoIfTheServerIgnoresConditions() {
        server.answer = (request, to) -> {
            request.headers().remove("if-match");
            if (request.number() == 2) {
                server.etag = "\"two\"";
            }
            return false;
        };
        assertThat(failure())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContainingAll("GET -> PARTIAL_CONTENT (206)", "has changed on its host");
    }

    @Test
    void anotherRangeThanAskedForIsRefused() {
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            server.usual(
                    new RangeServer.Request(
                            1, request.target(), request.headers(), request.from() + 1, request.to() + 1),
                    to);
            return true;
        };
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(1000))) {
            assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.region(0, 1000), buffer.all()))))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("another range than bytes 0 to 999: bytes 1-1000/" + BYTES);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Encoding: gzip", "Transfer-Encoding: chunked"})
    void aRangeInACodingIsRefusedForThat(String header) {
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            to.write(RangeServer.text(
                    "206 Partial Content",
                    "ETag: " + server.etag,
                    header,
                    "Content-Length: " + (request.to() - request.from() + 1),
                    "Content-Range: bytes " + request.from() + "-" + request.to() + "/" + BYTES));
            return true;
        };
        assertThat(failure())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("in another coding than identity: " + header.substring(header.indexOf(' ') + 1));
    }

    @Test
    void anAnswerThatIsNoHttpIsAFailure() throws IOException {
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 1));
        server.answer = (request, to) -> {
            to.write("SSH-2.0-OpenSSH\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            return true;
        };
        assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                .hasRootCauseInstanceOf(IOException.class)
                .hasMessageContaining("not HTTP/1");
    }

    @Test
    void whatCannotBeOpenedSaysWhy() throws IOException {
        server.answer = (request, to) -> {
            to.write(RangeServer.text(request.target().substring(1).replace('-', ' '), "Connection: close"));
            return true;
        };
        assertThatThrownBy(() -> get(backend.openFile(server.uri("/404-Not-Found"))))
                .hasCauseInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("NOT_FOUND");
        assertThatThrownBy(() -> get(backend.openFile(server.uri("/403-Forbidden?X-Signature=secret"))))
                .hasCauseInstanceOf(AccessDeniedException.class)
                .hasMessageContaining("FORBIDDEN")
                .message()
                .doesNotContain("secret");
        URI named = URI.create(server.uri("/404-Not-Found").toString().replace("//", "//user:secret@"));
        assertThatThrownBy(() -> get(backend.openFile(named)))
                .hasMessageContaining("http://localhost:" + named.getPort() + "/404-Not-Found")
                .message()
                .doesNotContain("secret");
        assertThatThrownBy(() -> get(backend.openFile(server.uri("/200-OK"))))
                .hasMessageContaining("does not send ranges");
        assertThatThrownBy(() -> get(backend.openFile(server.uri("/206-No-Length"))))
                .hasMessageContaining("does not tell the length");
        assertThatThrownBy(() -> get(backend.openFile(URI.create("gopher://localhost/file"))))
                .isInstanceOf(ProviderNotFoundException.class)
                .hasMessageContainingAll("gopher", "[file, hf, http, https]");
        assertThatIllegalArgumentException().isThrownBy(() -> backend.openFile(URI.create("file.bin")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> backend.openFile(server.uri(), FileOption.WRITE))
                .withMessageContaining("options must be among [READ, IMMUTABLE]");
    }

    @Test
    void whatMayBeSecretIsNoPartOfTheAttributesAsText() {
        URI signed =
                URI.create(server.uri("/file.bin?X-Signature=secret").toString().replace("//", "//user:secret@"));
        try (StorageFile file = get(backend.openFile(signed))) {
            assertThat(file.attributes().toString()).contains("/file.bin").doesNotContain("secret");
        }
    }

    @Test
    void aRedirectionIsFollowedAndACircleIsNot() {
        server.answer = (request, to) -> {
            if (request.target().equals("/file.bin")) {
                return false;
            }
            String location = request.target().equals("/circle") ? "circle" : "/file.bin";
            to.write(RangeServer.text("302 Found", "Location: " + location, "Content-Length: 0"));
            return true;
        };
        try (StorageFile file = get(backend.openFile(server.uri("/elsewhere")))) {
            assertThat(read(file, 7, 100)).isEqualTo(Arrays.copyOfRange(DATA, 7, 107));
        }
        assertThatThrownBy(() -> get(backend.openFile(server.uri("/circle"))))
                .hasMessageContaining("redirected more than");
    }

    @Test
    void aSilentServerIsGivenUp() throws IOException {
        backend.close();
        backend = backend(Options.none()
                .with(CommonOptions.REMOTE_TIMEOUT, Duration.ofMillis(100))
                .with(CommonOptions.REMOTE_ATTEMPTS, 2));
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                RangeServer.sleep(60_000);
            }
            return false;
        };
        assertThat(failure()).isInstanceOf(TransientStorageException.class).hasMessageContaining("silent for 100 ms");
    }

    @Test
    void explainAndRequireDirectTellThatTheFileIsElsewhere() {
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            Transfer transfer = Transfer.read(file.all(), buffer.all());
            assertThat(backend.explain(transfer).path()).isEqualTo(TransferPath.REMOTE);
            assertThat(backend.explain(transfer).whyNotDirect()).isEqualTo("the file is on another host");
            assertThat(backend.explain(transfer).segments()).isEqualTo(3);
            assertThatThrownBy(() -> get(backend.submit(transfer.requireDirect())))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("the file is on another host");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"opencl-ssg", "cufile"})
    void deviceMemoryIsFilledThroughBounceBuffers(String name) throws IOException {
        server.answer = (request, to) -> {
            if (request.number() == 2) {
                server.cut(request, to, 500_000);
            }
            return false;
        };
        try (Backend device = Devices.open(name);
                StorageFile file = get(device.openFile(server.uri()));
                DeviceBuffer buffer = get(device.allocate(BYTES))) {
            Completion completion = get(device.submit(Transfer.read(file.region(5, BYTES), buffer.all())));
            assertThat(completion.path()).isEqualTo(TransferPath.REMOTE);
            assertThat(completion.bytes()).isEqualTo(BYTES - 5);
            ByteBuffer arrived = ByteBuffer.allocateDirect(BYTES - 5);
            get(buffer.download(0, arrived.duplicate()));
            assertThat(arrived).isEqualTo(ByteBuffer.wrap(DATA, 5, BYTES - 5).slice());
        }
    }

    @Test
    void aGatherReadsEachOfItsParts() {
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(3000))) {
            Transfer parts = Transfer.read(file.region(10, 1000), buffer.region(0, 1000))
                    .and(List.of(
                            Transfer.read(file.region(5_000_000, 1000), buffer.region(2000, 1000)),
                            Transfer.read(file.region(BYTES - 500, 1000), buffer.region(1000, 1000))));
            Completion completion = get(backend.submit(parts));
            assertThat(completion.bytes(0)).isEqualTo(1000);
            assertThat(completion.bytes(1)).isEqualTo(1000);
            assertThat(completion.bytes(2)).isEqualTo(500);
            ByteBuffer arrived = ByteBuffer.allocateDirect(3000);
            get(buffer.download(0, arrived.duplicate()));
            assertThat(arrived.slice(2000, 1000))
                    .isEqualTo(ByteBuffer.wrap(DATA, 5_000_000, 1000).slice());
        }
    }

    @Test
    void whatReadsPathsReadsFilesOnServers() throws IOException {
        Path path = Path.of(server.uri("/folder/file.bin?signature=1"));
        assertThat(path.getFileName()).hasToString("file.bin");
        assertThat(path.toUri()).isEqualTo(server.uri("/folder/file.bin?signature=1"));
        assertThat(path.toString()).doesNotContain("signature");
        assertThat(path.resolveSibling("other").toUri()).isEqualTo(server.uri("/folder/other"));
        assertThat(path.getParent().relativize(path)).hasToString("file.bin");
        assertThat(path.resolve("../x").normalize().toUri()).isEqualTo(server.uri("/folder/x"));
        assertThat(Path.of(server.uri("/folder/")).resolve("x").toUri()).isEqualTo(server.uri("/folder/x"));
        assertThat(Path.of(server.uri("/folder//")).resolve("x").toUri()).isEqualTo(server.uri("/folder//x"));
        assertThat(Files.isDirectory(path)).isFalse();
        assertThat(Files.size(path)).isEqualTo(BYTES);
        assertThat(Files.readAllBytes(path)).isEqualTo(DATA);
        assertThatThrownBy(() -> Files.delete(path)).isInstanceOf(ReadOnlyFileSystemException.class);
        assertThat(server.requests).allMatch(request -> request.target().equals("/folder/file.bin?signature=1"));
        try (StorageFile file = get(backend.openFile(path))) {
            assertThat(file.path()).isEqualTo(path);
            assertThat(read(file, 0, BYTES)).isEqualTo(DATA);
        }
    }

    @Test
    void aStreamOfRangesComesInOrder() {
        ByteBuffer arrived = ByteBuffer.allocate(BYTES);
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            Long chunks = get(backend.stream(
                            StreamPlan.of(file.all()).chunkBytes(1 << 20).depth(3),
                            chunk -> Mono.fromRunnable(
                                            () -> arrived.put(chunk.view().buffer(0, (int) chunk.length())))
                                    .thenReturn(chunk.index()))
                    .count());
            assertThat(chunks).isEqualTo(9);
        }
        assertThat(arrived.array()).isEqualTo(DATA);
    }
}
