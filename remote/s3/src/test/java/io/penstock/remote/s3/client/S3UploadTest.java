// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/** Objects that are written: what is on the server afterwards, also if the server goes wrong. */
@Tag("once")
@ExtendWith(Certificates.class)
@Tag("slow")
class S3UploadTest {

    private static final int PART = 5 << 20;
    private static final int BYTES = 2 * PART + 1_000_003;
    private static final byte[] DATA = data();

    private S3Server server;
    private Backend backend;
    private DeviceBuffer buffer;

    private static byte[] data() {
        byte[] data = new byte[BYTES];
        new Random(22).nextBytes(data);
        return data;
    }

    @BeforeEach
    void open() throws Exception {
        server = new S3Server(true);
        backend = Backends.open("host", server.options().with(S3Options.PART_BYTES, (long) PART));
        buffer = get(backend.allocate(BYTES));
        get(buffer.upload(0, ByteBuffer.wrap(DATA)));
    }

    @AfterEach
    void close() throws Exception {
        buffer.close();
        assertThat(backend.counters().files()).isZero();
        backend.close();
        for (int i = 0; i < 1000 && !server.uploads().isEmpty(); i++) {
            FaultProxy.sleep(10); // a file may be closed on another thread, where that may block
        }
        assertThat(server.uploads()).as("parts left on the server").isEmpty();
        server.stop();
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    private StorageFile create(FileOption... options) {
        return get(backend.openFile(
                S3Server.uri("object"),
                options.length == 0
                        ? new FileOption[] {FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE}
                        : options));
    }

    private Mono<Completion> write(StorageFile file, long offset, long bytes) {
        return backend.submit(Transfer.write(buffer.region(offset, bytes), file.region(offset, bytes)));
    }

    private List<FaultProxy.Request> parts() {
        return server.proxy.requests("PUT").stream()
                .filter(request -> request.target.contains("partNumber="))
                .toList();
    }

    @Test
    void anObjectIsThereAsAWholeAfterItsSync() throws IOException {
        try (StorageFile file = create()) {
            assertThat(get(write(file, 0, BYTES)).path()).isEqualTo(TransferPath.REMOTE);
            assertThat(file.size()).isEqualTo(BYTES);
            assertThatThrownBy(() -> server.get("object")).isInstanceOf(NoSuchKeyException.class);
            get(file.sync());
            assertThat(server.get("object")).isEqualTo(DATA);
            get(file.sync()); // nothing is left to do
            assertThatThrownBy(() -> get(write(file, 0, BYTES)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("the object takes no writes since its sync");
        }
        assertThat(parts()).hasSize(3);
        assertThat(server.proxy.requests("DELETE")).isEmpty();
        assertThat(server.get("object")).isEqualTo(DATA);
    }

    /** S3 sends the head of this answer, 200, before it has the result. */
    @Test
    void anErrorThatTheServerSendsWithStatus200FailsTheSync() throws IOException {
        completionIsAnswered(FaultProxy.error("200 OK", "InvalidPart"));
        try (StorageFile file = create()) {
            get(write(file, 0, BYTES));
            assertThatThrownBy(() -> get(file.sync()))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("CompleteMultipartUpload -> InvalidPart (200)");
        }
        assertThatThrownBy(() -> server.get("object")).isInstanceOf(NoSuchKeyException.class);
    }

    @Test
    void aSyncAfterOneThatFailedMakesNoObject() {
        completionIsAnswered(FaultProxy.error("400 Bad Request", "InvalidPart"));
        try (StorageFile file = create()) {
            get(write(file, 0, BYTES));
            assertThatThrownBy(() -> get(file.sync())).hasMessageContaining("as does every later sync");
            server.proxy.fault = (request, to) -> false;
            assertThatThrownBy(() -> get(file.sync())).hasMessageContaining("as does every later sync");
            assertThatThrownBy(() -> server.get("object")).isInstanceOf(NoSuchKeyException.class);
        }
        assertThatThrownBy(() -> server.get("object")).isInstanceOf(NoSuchKeyException.class);
    }

    /** It would be in no object, or in one that lacks it. */
    @ParameterizedTest
    @ValueSource(ints = {PART, 1000})
    void aWriteWhileASyncMakesTheObjectIsRefused(int bytes) throws Exception {
        CountDownLatch making = new CountDownLatch(1);
        CountDownLatch refused = new CountDownLatch(1);
        server.proxy.fault = (request, to) -> {
            if (completes(request) || puts(request)) {
                making.countDown();
                await(refused, 30);
            }
            return false;
        };
        try (StorageFile file = create()) {
            get(write(file, 0, bytes));
            CompletableFuture<Void> sync = file.sync().toFuture();
            assertThat(await(making, 30)).isTrue();
            assertThatThrownBy(() -> get(write(file, bytes, bytes)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("the object takes no writes since its sync");
            refused.countDown();
            sync.get(30, TimeUnit.SECONDS);
        } finally {
            refused.countDown();
        }
        assertThat(server.get("object")).isEqualTo(Arrays.copyOf(DATA, bytes));
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT"})
    void anAnswerWithoutWhatItMustHaveIsAFailureOfItsRequest(String kind) {
        server.proxy.fault = (request, to) -> {
            boolean lacks = request.kind.equals(kind);
            if (lacks) {
                to.write(FaultProxy.text("HTTP/1.1 200 OK\r\nContent-Length: 0"));
            }
            return lacks;
        };
        try (StorageFile file = create()) {
            assertThatThrownBy(() -> get(write(file, 0, PART)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining(
                            kind.equals("POST")
                                    ? "CreateMultipartUpload -> 0; the answer has no upload id"
                                    : "UploadPart -> 0; the answer has no ETag");
        }
    }

    @Test
    void anEmptyAnswerIsNoObject() {
        completionIsAnswered(FaultProxy.text("HTTP/1.1 200 OK\r\nContent-Length: 0"));
        try (StorageFile file = create()) {
            get(write(file, 0, BYTES));
            assertThatThrownBy(() -> get(file.sync()))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("CompleteMultipartUpload -> 0; the answer has no result");
        }
        assertThatThrownBy(() -> server.get("object")).isInstanceOf(NoSuchKeyException.class);
    }

    private void completionIsAnswered(byte[] answer) {
        server.proxy.fault = (request, to) -> {
            if (completes(request)) {
                to.write(answer);
            }
            return completes(request);
        };
    }

    private static boolean completes(FaultProxy.Request request) {
        return request.kind.equals("POST") && request.target.contains("uploadId=");
    }

    private static boolean puts(FaultProxy.Request request) {
        return request.kind.equals("PUT") && !request.target.contains("uploadId=");
    }

    /** The client's next attempt finds no upload any more, or an object where it must find none. */
    @ParameterizedTest
    @ValueSource(ints = {BYTES, 1000})
    void anObjectThatIsMadeByARequestWhoseAnswerIsLostIsSynced(int bytes) throws IOException {
        AtomicBoolean lost = new AtomicBoolean();
        server.proxy.fault = (request, to) -> {
            boolean completes = completes(request);
            if ((completes || puts(request)) && lost.compareAndSet(false, true)) {
                server.proxy.forward(request);
                throw new IOException("the answer is lost");
            }
            if (completes) { // the server of this test forgets no upload
                to.write(FaultProxy.error("404 Not Found", "NoSuchUpload"));
                return true;
            }
            return false;
        };
        try (StorageFile file = create(FileOption.WRITE, FileOption.CREATE_NEW)) {
            get(write(file, 0, bytes));
            get(file.sync());
        }
        assertThat(lost).isTrue();
        assertThat(server.get("object")).isEqualTo(Arrays.copyOf(DATA, bytes));
        assertThat(server.proxy.requests("DELETE")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000_000, 4 << 20, PART, 6 << 20})
    void piecesOfAnySizeArriveInAnyOrder(int pieceBytes) throws IOException {
        List<Mono<Completion>> pieces = new ArrayList<>();
        try (StorageFile file = create()) {
            for (int at = 0; at < BYTES; at += pieceBytes) {
                pieces.add(write(file, at, Math.min(pieceBytes, BYTES - at)));
            }
            Collections.shuffle(pieces, new Random(1));
            assertThat(get(Flux.merge(pieces).map(Completion::bytes).reduce(Long::sum)))
                    .isEqualTo(BYTES);
            get(file.sync());
        }
        assertThat(server.get("object")).isEqualTo(DATA);
        assertThat(parts()).hasSize(3);
    }

    @Test
    void aSmallObjectIsOneRequestAndAnEmptyOneToo() throws IOException {
        try (StorageFile file = create()) {
            get(file.sync());
        }
        assertThat(server.get("object")).isEmpty();
        try (StorageFile file = create(FileOption.WRITE, FileOption.TRUNCATE)) {
            get(write(file, 0, 1000));
            get(file.sync());
        }
        assertThat(server.get("object")).isEqualTo(Arrays.copyOf(DATA, 1000));
        assertThat(server.proxy.requests("PUT")).hasSize(2);
        assertThat(server.proxy.requests("POST")).isEmpty();
    }

    @Test
    void nothingIsLeftOfAnObjectThatIsClosedWithoutASync() {
        try (StorageFile file = create()) {
            get(write(file, 0, BYTES));
            assertThat(server.uploads()).hasSize(1);
        }
        assertThat(server.uploads()).isEmpty();
        assertThat(server.proxy.requests("DELETE")).hasSize(1);
        assertThatThrownBy(() -> server.get("object")).isInstanceOf(NoSuchKeyException.class);
    }

    @Test
    void anObjectHasNoHoles() {
        try (StorageFile file = create()) {
            get(write(file, 0, PART));
            get(write(file, PART + 100, 1000));
            assertThatThrownBy(() -> get(file.sync()))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("bytes from " + PART + " on were not written");
        }
    }

    @Test
    void aPartThatFailsIsSentAgain() throws IOException {
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("PUT") && request.number == 1) {
                throw new IOException("cut");
            }
            boolean busy = request.kind.equals("PUT") && request.number == 2;
            if (busy) {
                to.write(FaultProxy.error("503 Slow Down", "SlowDown"));
            }
            return busy;
        };
        try (StorageFile file = create()) {
            get(write(file, 0, BYTES));
            get(file.sync());
        }
        assertThat(server.get("object")).isEqualTo(DATA);
        assertThat(parts()).hasSize(5);
    }

    @Test
    void aWriteWhosePartIsRefusedFailsAndMayBeRepeated() throws IOException {
        server.proxy.fault = (request, to) -> {
            boolean refused = request.kind.equals("PUT") && request.number == 0;
            if (refused) {
                to.write(FaultProxy.error("400 Bad Request", "BadDigest"));
            }
            return refused;
        };
        try (StorageFile file = create()) {
            assertThatThrownBy(() -> get(write(file, 0, BYTES)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("UploadPart -> BadDigest (400)");
            get(write(file, 0, BYTES));
            get(file.sync());
        }
        assertThat(server.get("object")).isEqualTo(DATA);
    }

    @Test
    void aPartOfWhichAPieceIsWrittenAgainIsNotMixed() {
        try (StorageFile file = create()) {
            get(write(file, 0, BYTES));
            get(write(file, 100, 1000));
            assertThatThrownBy(() -> get(file.sync())).hasMessageContaining("bytes from 0 on were not written");
        }
    }

    @Test
    void aCancelEndsAnUploadAndLeavesNothing() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(2);
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("PUT")) {
                begun.countDown();
                FaultProxy.sleep(60_000);
            }
            return false;
        };
        StorageFile file = create();
        Disposable writing = write(file, 0, BYTES).subscribe();
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(backend.counters().inFlight()).isEqualTo(1);
        writing.dispose();
        file.close();
        for (int i = 0; i < 1000 && backend.counters().inFlight() > 0; i++) { // the last that it gives back
            FaultProxy.sleep(10);
        }
        assertThat(backend.counters().inFlight()).isZero();
    }

    @Test
    void aServerThatStaysBusyIsATransientFailure() {
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("POST")) {
                to.write(FaultProxy.error("503 Slow Down", "SlowDown"));
            }
            return request.kind.equals("POST");
        };
        try (StorageFile file = create()) {
            assertThatThrownBy(() -> get(write(file, 0, BYTES)))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("CreateMultipartUpload");
        }
    }

    @Test
    void whatIsThereIsReplacedOnlyOnDemand() throws IOException {
        server.put("object", new byte[] {1});
        assertThatThrownBy(() -> create(FileOption.WRITE, FileOption.CREATE_NEW))
                .hasCauseInstanceOf(FileAlreadyExistsException.class);
        assertThatThrownBy(() -> create(FileOption.WRITE, FileOption.CREATE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("WRITE needs CREATE_NEW or TRUNCATE");
        assertThatThrownBy(() -> get(backend.openFile(S3Server.uri("absent"), FileOption.WRITE, FileOption.TRUNCATE)))
                .hasCauseInstanceOf(NoSuchFileException.class);
        assertThat(server.get("object")).hasSize(1);
    }

    @Test
    void anObjectThatAppearsMeanwhileIsNotReplaced() throws IOException {
        try (StorageFile file = create(FileOption.WRITE, FileOption.CREATE_NEW)) {
            get(write(file, 0, 1000));
            server.put("object", new byte[] {1});
            assertThatThrownBy(() -> get(file.sync())).hasMessageContaining("PutObject -> PreconditionFailed (412)");
        }
        assertThat(server.get("object")).hasSize(1);
    }

    @Test
    void anInterruptedThreadLeavesNothingEither() {
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("DELETE") && request.number == 0) {
                throw new IOException("cut");
            }
            return false;
        };
        try {
            StorageFile file = create();
            get(write(file, 0, BYTES));
            Thread.currentThread().interrupt();
            file.close();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            Thread.interrupted();
        }
        assertThat(server.proxy.requests("DELETE")).hasSize(2);
        assertThat(server.uploads()).isEmpty();
    }

    @Test
    void anUploadThatIsGoneIsNotReportedAsLeft() throws Exception {
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("DELETE") && request.number == 0) {
                server.proxy.forward(request);
                throw new IOException("the answer is lost");
            }
            return false;
        };
        CrtClient.Settings settings = CrtClient.Settings.of(server.options());
        try (Signer signer = new Signer(settings.region());
                CrtClient client = new CrtClient(settings, signer)) {
            Address address =
                    Address.of(S3Server.uri("object"), settings.endpoint(), settings.region(), settings.addressing());
            Multipart upload = new Multipart(client, address, RequestHeaders.of(Options.none()), false);
            CompletableFuture<String> etag = new CompletableFuture<>();
            upload.part(1, ByteBuffer.wrap(DATA, 0, PART), (tag, error) -> etag.complete(String.valueOf(tag)));
            assertThat(etag.get(30, TimeUnit.SECONDS)).isNotEqualTo("null");
            upload.abort();
        }
        assertThat(server.proxy.requests("DELETE")).hasSize(2);
    }

    @Test
    void theEndOfABackendIsBehindThatOfItsFiles() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        AtomicBoolean late = new AtomicBoolean();
        server.proxy.fault = (request, to) -> {
            if (request.kind.equals("DELETE")) {
                late.set(await(ended, 2));
            }
            return false;
        };
        Options options =
                server.options().with(S3Options.PART_BYTES, (long) PART).with("penstock.close-timeout", "30s");
        try (Backend own = Backends.open("host", options)) {
            StorageFile file =
                    get(own.openFile(S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE));
            DeviceBuffer memory = get(own.allocate(PART));
            get(own.submit(Transfer.write(memory.all(), file.region(0, PART))));
            CountDownLatch closed = new CountDownLatch(1);
            Schedulers.parallel()
                    .schedule(
                            () -> { // a thread that must not block
                                file.close();
                                closed.countDown();
                            });
            assertThat(await(closed, 20)).isTrue();
        }
        ended.countDown();
        assertThat(server.proxy.requests("DELETE")).hasSize(1);
        assertThat(late).as("the backend was closed before its file").isFalse();
    }

    private static boolean await(CountDownLatch latch, int seconds) {
        try {
            return latch.await(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
