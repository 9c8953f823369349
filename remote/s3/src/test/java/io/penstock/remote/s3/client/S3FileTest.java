// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Objects on a server that goes wrong: what arrives, what is requested again, and what fails how. */
@Tag("once")
@ExtendWith(Certificates.class)
class S3FileTest {

    private static final int BYTES = 9_000_001; // three ranges, the last one odd
    private static final byte[] DATA = data();

    private static S3Server server;
    private Backend backend;

    private static byte[] data() {
        byte[] data = new byte[BYTES];
        new Random(21).nextBytes(data);
        return data;
    }

    @BeforeAll
    static void start() throws Exception {
        server = new S3Server(true);
        server.put("object", DATA);
    }

    @AfterAll
    static void stop() throws Exception {
        server.stop();
    }

    @BeforeEach
    void open() {
        server.proxy.reset();
        backend = Backends.open("host", server.options());
    }

    @AfterEach
    void close() {
        assertThat(backend.counters().files()).isZero();
        assertThat(backend.counters().buffers()).isZero();
        backend.close();
    }

    private void reopen(Options options) {
        backend.close();
        backend = Backends.open("host", options);
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
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
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")))) {
            return read(file, 0, BYTES);
        }
    }

    private PenstockException failure() {
        try {
            readAll();
        } catch (PenstockException e) {
            return e;
        }
        throw new AssertionError("did not fail");
    }

    @Test
    void anObjectArrivesWholeByRangesOfOneVersion() {
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")))) {
            assertThat(file.size()).isEqualTo(BYTES);
            assertThat(file.uri()).isEqualTo(S3Server.uri("object"));
            assertThat(read(file, 0, BYTES)).isEqualTo(DATA);
            assertThat(read(file, 4_000_000, 1_000_000)).isEqualTo(Arrays.copyOfRange(DATA, 4_000_000, 5_000_000));
        }
        assertThat(server.proxy.requests("OPEN")).hasSize(1);
        assertThat(server.proxy.requests("GET"))
                .hasSize(4)
                .allMatch(request -> request.headers.get("if-match").matches("\"[0-9a-f]{32}\""))
                .allMatch(request -> request.headers.get("authorization").startsWith("AWS4-HMAC-SHA256"));
    }

    @Test
    void aReadIsShortWhereTheObjectEndsAndOfNothingBeyond() {
        server.put("empty", new byte[0]);
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")));
                StorageFile empty = get(backend.openFile(S3Server.uri("empty")))) {
            assertThat(read(file, BYTES - 10, 4096)).hasSize(10);
            assertThat(read(file, BYTES, 4096)).isEmpty();
            assertThat(read(file, BYTES + 5L, 4096)).isEmpty();
            assertThat(empty.size()).isZero();
            assertThat(read(empty, 0, 16)).isEmpty();
        }
        assertThat(server.proxy.requests("GET"))
                .as("of the last bytes, and of all that is empty, since no range of that has a length")
                .hasSize(2);
    }

    @Test
    void namesOfObjectsMayHaveAnyCharacters() {
        server.put("folder name/\u00fc+$&=:@~'(1)*.bin", Arrays.copyOf(DATA, 1000));
        URI uri = S3Server.uri("folder%20name/%C3%BC+$&=:@~'(1)*.bin");
        try (StorageFile file = get(backend.openFile(uri))) {
            assertThat(read(file, 0, 1000)).isEqualTo(Arrays.copyOf(DATA, 1000));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"with_line", "logs.2024"})
    void aBucketWhoseNameIsNoHostHasObjects(String bucket) throws IOException {
        server.create(bucket);
        server.put(bucket, "folder/object", Arrays.copyOf(DATA, 1000));
        URI uri = URI.create("s3://" + bucket + "/folder/object");
        try (StorageFile file = get(backend.openFile(uri))) {
            assertThat(file.uri()).isEqualTo(uri);
            assertThat(read(file, 0, 1000)).isEqualTo(Arrays.copyOf(DATA, 1000));
        }
        Path path = Path.of(uri);
        assertThat(path).hasToString(uri.toString()).isEqualTo(Path.of(uri));
        assertThat(path.resolveSibling("other")).hasToString("s3://" + bucket + "/folder/other");
        try (StorageFile file = get(backend.openFile(path))) {
            assertThat(file.size()).isEqualTo(1000);
        }
        assertThatThrownBy(() -> get(backend.openFile(path.resolveSibling("other"))))
                .hasMessageContaining("s3://" + bucket + "/folder/other");
    }

    /** Returns how many bytes each thread of this JVM has allocated, but for the server's. */
    private static Map<Long, Long> allocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Map<Long, Long> bytes = new HashMap<>();
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && !thread.getThreadName().matches("(S3Proxy|fault-proxy).*")) {
                bytes.put(thread.getThreadId(), Math.max(0, threads.getThreadAllocatedBytes(thread.getThreadId())));
            }
        }
        return bytes;
    }

    @Test
    void bytesDoNotPassThroughTheHeap() {
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            Transfer all = Transfer.read(file.all(), buffer.all());
            long fewest = Long.MAX_VALUE;
            for (int i = 0;
                    i < 10 && fewest > BYTES / 20;
                    i++) { // the first loads classes, and others may allocate meanwhile
                Map<Long, Long> before = allocated();
                assertThat(get(backend.submit(all)).bytes()).isEqualTo(BYTES);
                long bytes = 0;
                for (Map.Entry<Long, Long> thread : allocated().entrySet()) {
                    bytes += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
                }
                fewest = Math.min(fewest, bytes);
            }
            assertThat(fewest).isBetween(1L, BYTES / 20L);
        }
    }

    @Test
    void aBusyServerIsAskedAgain() {
        server.proxy.fault = (request, to) -> {
            boolean busy = request.number < 1;
            if (busy) {
                to.write(FaultProxy.error("503 Slow Down", "SlowDown"));
            }
            return busy;
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.proxy.requests("OPEN")).hasSize(2);
        assertThat(server.proxy.requests("GET")).hasSize(4);
    }

    @Test
    void aServerThatStaysBusyIsATransientFailure() {
        reopen(server.options().with(CommonOptions.REMOTE_ATTEMPTS, 2));
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("GET")) {
                to.write(FaultProxy.error("503 Slow Down", "SlowDown"));
            }
            return request.kind.equals("GET");
        };
        PenstockException failure = failure();
        assertThat(failure).isInstanceOf(TransientStorageException.class);
        assertThat(failure).hasMessageContainingAll("of s3://bucket/object failed", "GetObject -> ");
    }

    @Test
    void aCutConnectionIsReplaced() {
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("GET") && request.number == 1) {
                FaultProxy.Response response = server.proxy.forward(request);
                to.write(FaultProxy.text(response.head));
                to.write(response.body, 0, 500_000);
                to.flush();
                throw new IOException("cut");
            }
            return false;
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.proxy.requests("GET")).hasSize(4);
    }

    @Test
    void aServerThatIsGoneIsATransientFailure() {
        reopen(server.options().with(CommonOptions.REMOTE_ATTEMPTS, 2));
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("GET")) {
                throw new IOException("cut");
            }
            return false;
        };
        assertThat(failure())
                .isInstanceOf(TransientStorageException.class)
                .hasMessageContaining("GetObject -> java.io.EOFException");
    }

    @Test
    void aChangedObjectFailsInsteadOfMixing() {
        server.put("changing", DATA);
        byte[] other = DATA.clone();
        other[7]++;
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("GET") && request.number == 0) {
                server.put("changing", other);
            }
            return false;
        };
        try (StorageFile file = get(backend.openFile(S3Server.uri("changing")))) {
            assertThatThrownBy(() -> read(file, 0, BYTES))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContainingAll("GetObject -> PreconditionFailed (412)", "has changed on its host");
        }
    }

    @Test
    void aChangedObjectFailsAlsoIfTheServerIgnoresConditions() {
        server.proxy.fault = (request, to) -> {
            if (!request.kind.equals("GET")) {
                return false;
            }
            FaultProxy.Response response = server.proxy.forward(request);
            to.write(FaultProxy.text(response.head.replaceFirst("ETag: \"[^\"]*\"", "ETag: \"other\"")));
            to.write(response.body);
            return true;
        };
        assertThat(failure())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContainingAll("GetObject", "has changed on its host");
    }

    @Test
    void anotherRangeThanAskedForIsRefused() {
        server.proxy.fault = (request, to) -> {
            if (!request.kind.equals("GET")) {
                return false;
            }
            FaultProxy.Response response = server.proxy.forward(request);
            to.write(FaultProxy.text(response.head.replace("Content-Range: bytes 0-", "Content-Range: bytes 1-")));
            to.write(response.body);
            return true;
        };
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")))) {
            assertThatThrownBy(() -> read(file, 0, 1000)).isInstanceOf(PermanentStorageException.class);
        }
    }

    @Test
    void aShorterRangeThanAskedForIsRefused() {
        server.proxy.fault = (request, to) -> {
            if (!request.kind.equals("GET")) {
                return false;
            }
            FaultProxy.Response response = server.proxy.forward(request);
            to.write(FaultProxy.text(response.head.replaceFirst("Content-Length: \\d+", "Content-Length: 500")));
            to.write(response.body, 0, 500);
            return true;
        };
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")))) {
            assertThatThrownBy(() -> read(file, 0, 1000)).isInstanceOf(PermanentStorageException.class);
        }
    }

    @Test
    void whatCannotBeOpenedSaysWhy() {
        assertThatThrownBy(() -> get(backend.openFile(S3Server.uri("absent"))))
                .hasCauseInstanceOf(NoSuchFileException.class)
                .hasMessageContainingAll("s3://bucket/absent", "GetObject -> NoSuchKey (404)");
        assertThatThrownBy(() -> get(backend.openFile(URI.create("s3://other-bucket/object"))))
                .hasCauseInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> get(backend.openFile(URI.create("s3://bucket"))))
                .hasMessageContaining("must be s3://BUCKET/KEY");
        reopen(server.options().with(S3Options.CREDENTIALS, S3Options.Credentials.NONE));
        assertThatThrownBy(() -> get(backend.openFile(S3Server.uri("object"))))
                .hasCauseInstanceOf(AccessDeniedException.class)
                .hasMessageContaining("AccessDenied (403)");
        assertThat(server.proxy.requests("OPEN").get(2).headers).doesNotContainKey("authorization");
        reopen(Options.none().with(S3Options.ENDPOINT, "localhost:9000"));
        assertThatThrownBy(() -> get(backend.openFile(S3Server.uri("object"))))
                .hasMessageContaining("penstock.s3.endpoint must be a URL such as");
    }

    /** As S3 sends it: in chunks, with the bucket's region, which was the right one. */
    @ParameterizedTest
    @ValueSource(strings = {"Transfer-Encoding: chunked", "Content-Length: 48", "Connection: close"})
    void aRefusalHasTheCodeOfItsDocument(String framing) {
        server.proxy.fault = (request, to) -> {
            to.write(FaultProxy.text("HTTP/1.1 400 Bad Request\r\nx-amz-bucket-region: us-east-1\r\n" + framing));
            String document = "<?xml?>\n<Error><Code>ExpiredToken</Code></Error>";
            String chunks = "8\r\n<?xml?>\n\r\n28\r\n<Error><Code>ExpiredToken</Code></Error>\r\n0\r\n\r\n";
            String body = framing.endsWith("chunked") ? chunks : document;
            to.write(body.getBytes(StandardCharsets.ISO_8859_1));
            to.flush();
            if (framing.endsWith("close")) {
                throw new IOException("the end of the document");
            }
            return true;
        };
        assertThatThrownBy(() -> get(backend.openFile(S3Server.uri("object"))))
                .hasMessageContaining("GetObject -> ExpiredToken (400)");
        assertThat(server.proxy.requests).hasSize(1);
    }

    /** As S3 sends it: without the length, which the answer to a request without a range has. */
    @Test
    void anObjectWithoutAFirstByteIsEmpty() {
        server.proxy.fault = (request, to) -> {
            to.write(
                    request.kind.equals("OPEN")
                            ? FaultProxy.error("416 Requested Range Not Satisfiable", "InvalidRange")
                            : FaultProxy.text("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0"));
            return true;
        };
        try (StorageFile file = get(backend.openFile(S3Server.uri("object")))) {
            assertThat(file.size()).isZero();
        }
    }

    @Test
    void aRedirectionIsNotFollowedWithASignature() {
        server.proxy.fault = (request, to) -> {
            to.write(FaultProxy.text(
                    "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: " + request.target));
            return true;
        };
        assertThatThrownBy(() -> get(backend.openFile(S3Server.uri("object"))))
                .hasMessageContaining("GetObject -> TEMPORARY_REDIRECT (307)");
        assertThat(server.proxy.requests).hasSize(1);
    }

    @Test
    void aBucketThatEverybodyMayReadNeedsNoCredentials() throws Exception {
        S3Server everybody = new S3Server(false);
        try {
            everybody.put("object", DATA);
            reopen(everybody.options().with(S3Options.CREDENTIALS, S3Options.Credentials.NONE));
            assertThat(readAll()).isEqualTo(DATA);
            assertThat(everybody.proxy.requests).noneMatch(request -> request.headers.containsKey("authorization"));
        } finally {
            everybody.stop();
        }
    }

    @Test
    void aBucketOfAnotherRegionIsReadThere() {
        server.proxy.fault = (request, to) -> {
            boolean wrong = !request.headers.get("authorization").contains("/eu-west-1/");
            if (wrong) {
                to.write(FaultProxy.text(
                        "HTTP/1.1 301 Moved Permanently\r\nx-amz-bucket-region: eu-west-1\r\n" + "Content-Length: 0"));
            }
            return wrong;
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.proxy.requests("OPEN")).hasSize(2);
        assertThat(server.proxy.requests("GET")).hasSize(3);
    }

    @Test
    void whatReadsPathsReadsObjects() throws IOException {
        System.setProperty(S3Options.ENDPOINT.name(), server.proxy.uri().toString());
        try {
            Path path = Path.of(S3Server.uri("object"));
            assertThat(path.getFileName()).hasToString("object");
            assertThat(path).hasToString("s3://bucket/object");
            assertThat(Files.size(path)).isEqualTo(BYTES);
            assertThat(Files.readAllBytes(path)).isEqualTo(DATA);
            assertThat(Files.exists(path.resolveSibling("absent"))).isFalse();
            try (StorageFile file = get(backend.openFile(path))) {
                assertThat(read(file, 0, BYTES)).isEqualTo(DATA);
            }
        } finally {
            System.clearProperty(S3Options.ENDPOINT.name());
        }
    }

    @Test
    void optionsAreKnownToEveryBackend() {
        assertThat(Backends.options()).containsAll(S3Options.all());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Backends.open("host", Options.none().with("penstock.s3.endpont", "x")))
                .withMessageContaining("penstock.s3.endpont");
    }
}
