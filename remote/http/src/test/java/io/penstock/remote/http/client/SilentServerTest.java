// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** Reads of a server that does not answer end when a cancel or a deadline does, and leave nothing open. */
class SilentServerTest extends ServedFile {

    private static final int BYTES = 9_000_001;
    private static final byte[] DATA = new byte[BYTES];

    SilentServerTest() {
        super(DATA);
    }

    @Test
    void aCancelEndsAReadOfASilentServer() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(3);
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            server.head(request, to);
            to.write(DATA, (int) request.from(), 1000);
            to.flush();
            asked.countDown();
            RangeServer.sleep(60_000);
            return true;
        };
        StorageFile file = get(backend.openFile(server.uri()));
        DeviceBuffer buffer = get(backend.allocate(BYTES));
        Disposable reading =
                backend.submit(Transfer.read(file.all(), buffer.all())).subscribe();
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        reading.dispose();
        file.close();
        buffer.close();
        awaitNothingInFlight();
        assertThat(backend.counters().buffers()).isZero();
    }

    @Test
    void aDeadlineEndsAReadOfASilentServer() {
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                RangeServer.sleep(60_000);
            }
            return false;
        };
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            Transfer transfer = Transfer.read(file.all(), buffer.all()).deadline(Duration.ofMillis(200));
            assertThatThrownBy(() -> get(backend.submit(transfer)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("exceeded its deadline");
        }
    }

    @Test
    void aSilentServerHoldsUpNoOther() throws IOException {
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                RangeServer.sleep(60_000);
            }
            return false;
        };
        Options one = Options.none().with(CommonOptions.REMOTE_CONNECTIONS, 1);
        try (Backend single = Backends.open("host", one);
                RangeServer other = new RangeServer(DATA);
                StorageFile silent = get(single.openFile(server.uri()));
                StorageFile file = get(single.openFile(other.uri()));
                DeviceBuffer buffer = get(single.allocate(BYTES));
                DeviceBuffer second = get(single.allocate(1000))) {
            Disposable reading =
                    single.submit(Transfer.read(silent.all(), buffer.all())).subscribe();
            assertThat(get(single.submit(Transfer.read(file.region(0, 1000), second.all())))
                            .bytes())
                    .isEqualTo(1000);
            reading.dispose();
        }
    }

    @Test
    void aCancelEndsAReadThatWaitsForAConnection() throws IOException {
        StorageFile file = get(backend.openFile(server.uri()));
        DeviceBuffer buffer = get(backend.allocate(BYTES));
        int port = server.uri().getPort();
        server.close();
        List<SocketChannel> waiting = new ArrayList<>();
        try (ServerSocket full = new ServerSocket()) {
            full.setReuseAddress(true);
            bind(full, port);
            for (int i = 0; i < 8; i++) { // more than wait to be accepted: the next ones are not answered at all
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                channel.connect(full.getLocalSocketAddress());
                waiting.add(channel);
            }
            Disposable reading =
                    backend.submit(Transfer.read(file.all(), buffer.all())).subscribe();
            RangeServer.sleep(200); // it connects, in vain
            assertThat(backend.counters().inFlight()).isEqualTo(1);
            reading.dispose();
            file.close();
            buffer.close();
            for (int i = 0; i < 500 && backend.counters().buffers() > 0; i++) {
                RangeServer.sleep(10);
            }
            assertThat(backend.counters().buffers()).isZero();
            awaitNoReads();
        } finally {
            for (SocketChannel channel : waiting) {
                channel.close();
            }
        }
    }

    /** Sends nothing complete to the requests from this one on, and counts them. */
    private void dripFrom(int number, CountDownLatch asked) {
        RangeServer.Answer before = server.answer;
        server.answer = (request, to) -> {
            if (request.number() < number) {
                return before.answer(request, to);
            }
            asked.countDown();
            drip(to, "HTTP/1.1 206 Partial Content\r\nA: ".getBytes(StandardCharsets.ISO_8859_1));
            return true;
        };
    }

    /** A refused condition is followed by the question what differs, and a target that has expired by the first URL. */
    @ParameterizedTest
    @ValueSource(strings = {"412 Precondition Failed", "403 Forbidden"})
    void aCancelEndsWhatIsAskedBecauseOfARefusal(String refusal) throws InterruptedException {
        server.answer = (request, to) -> {
            String answer = request.target().equals("/file.bin") ? "302 Found" : request.number() > 1 ? refusal : "";
            if (!answer.isEmpty()) {
                to.write(RangeServer.text(answer, "Location: /target", "Content-Length: 0"));
            }
            return !answer.isEmpty();
        };
        CountDownLatch asked = new CountDownLatch(1);
        dripFrom(3, asked);
        StorageFile file = get(backend.openFile(server.uri()));
        DeviceBuffer buffer = get(backend.allocate(1000));
        Disposable reading = backend.submit(Transfer.read(file.region(0, 1000), buffer.all()))
                .subscribe();
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        reading.dispose();
        file.close();
        buffer.close();
        awaitNothingInFlight();
        awaitNoReads();
    }

    /** Waits until no thread reads a range any more: less long than a server may be silent. */
    private static void awaitNoReads() {
        for (int i = 0; i < 2000 && isReading(); i++) {
            RangeServer.sleep(10);
        }
        assertThat(isReading()).isFalse();
    }

    private static boolean isReading() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .anyMatch(frame -> frame.getClassName().endsWith("RangeReader$RangeRead"));
    }

    /** Waits until a thread waits for the network, and interrupts it. */
    private static void interrupt(Thread thread, CountDownLatch asked) throws InterruptedException {
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        thread.interrupt();
        thread.join(20_000);
        assertThat(thread.isAlive()).as("still waits").isFalse();
    }

    @Test
    void anInterruptEndsACallThatOpensAFileOfASilentServer() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        server.answer = (request, to) -> {
            asked.countDown();
            RangeServer.sleep(60_000);
            return false;
        };
        assertInterruptEnds(() -> Files.size(Path.of(server.uri())), asked);
    }

    @Test
    void anInterruptEndsAReadByAChannelOfASilentServer() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                asked.countDown();
                RangeServer.sleep(60_000);
            }
            return false;
        };
        Callable<Integer> read = () -> {
            try (InputStream in = Files.newInputStream(Path.of(server.uri()))) {
                return in.read();
            }
        };
        assertInterruptEnds(read, asked);
    }

    /** Interrupts the call once the server has the request: it fails, and its thread stays interrupted. */
    private static void assertInterruptEnds(Callable<?> call, CountDownLatch asked) throws InterruptedException {
        List<Object> ended = new CopyOnWriteArrayList<>();
        Thread thread = new Thread(() -> {
            try {
                ended.add(call.call());
            } catch (Exception e) {
                ended.add(e);
            }
            ended.add(Thread.currentThread().isInterrupted());
        });
        thread.start();
        interrupt(thread, asked);
        assertThat(ended).hasSize(2);
        assertThat(ended.get(0)).isInstanceOf(IOException.class);
        assertThat(ended.get(1)).isEqualTo(true);
    }

    @Test
    void openingFilesOfASilentServerHoldsUpNoOther() throws Exception {
        int many = Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE + 1; // more than there are threads for calls that block
        CountDownLatch asked = new CountDownLatch(many);
        server.answer = (request, to) -> {
            asked.countDown();
            RangeServer.sleep(60_000);
            return false;
        };
        List<Disposable> opening = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            opening.add(backend.openFile(server.uri()).subscribe());
        }
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        Path local = Files.createTempFile("local", ".bin");
        get(backend.openFile(local)).close();
        Files.delete(local);
        opening.forEach(Disposable::dispose);
        awaitNothingInFlight();
    }

    /** Waits until the calls that open files have returned. */
    private void awaitNothingInFlight() {
        for (int i = 0; i < 1000 && backend.counters().inFlight() > 0; i++) {
            RangeServer.sleep(10);
        }
        assertThat(backend.counters().inFlight()).isZero();
    }

    @Test
    void silenceOfKeptConnectionsCountsAsAFailedAttempt() throws InterruptedException {
        CountDownLatch together = new CountDownLatch(3); // so that three connections are kept
        AtomicInteger unanswered = new AtomicInteger();
        AtomicBoolean silent = new AtomicBoolean();
        server.answer = (request, to) -> {
            if (silent.get()) {
                unanswered.incrementAndGet();
                RangeServer.sleep(60_000);
            } else if (request.number() > 0) {
                together.countDown();
                awaitAll(together);
            }
            return false;
        };
        Options options = Options.none()
                .with(CommonOptions.REMOTE_TIMEOUT, Duration.ofMillis(300))
                .with(CommonOptions.REMOTE_ATTEMPTS, 2);
        try (Backend impatient = Backends.open("host", options);
                StorageFile file = get(impatient.openFile(server.uri()));
                DeviceBuffer buffer = get(impatient.allocate(BYTES))) {
            get(impatient.submit(Transfer.read(file.all(), buffer.all())));
            silent.set(true);
            assertThatThrownBy(() -> get(impatient.submit(Transfer.read(file.region(0, 1000), buffer.region(0, 1000)))))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("after 2 attempts");
        }
        assertThat(unanswered).hasValue(2);
    }

    /** Each byte would end a silence, and each progress would begin to count attempts anew. */
    @ParameterizedTest
    @ValueSource(strings = {"drips its head", "drips its body", "closes after a byte"})
    void aServerThatSendsAByteNowAndThenIsGivenUp(String way) {
        server.answer = (request, to) -> {
            if (request.number() > 0 && way.equals("drips its head")) {
                drip(to, "HTTP/1.1 206 Partial Content\r\nA: ".getBytes(StandardCharsets.ISO_8859_1));
            } else if (request.number() > 0) {
                server.head(request, to);
                drip(to, way.equals("drips its body") ? DATA : new byte[1]);
            }
            return request.number() > 0;
        };
        Options options = Options.none()
                .with(CommonOptions.REMOTE_TIMEOUT, Duration.ofMillis(300))
                .with(CommonOptions.REMOTE_ATTEMPTS, 2);
        try (Backend impatient = Backends.open("host", options);
                StorageFile file = get(impatient.openFile(server.uri()));
                DeviceBuffer buffer = get(impatient.allocate(1000))) {
            assertThatThrownBy(() -> get(impatient.submit(Transfer.read(file.region(0, 1000), buffer.all()))))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("after 2 attempts");
        }
    }

    /** Sends bytes, and the last of them again, each soon after the last: for a minute, unless the client hangs up. */
    private static void drip(OutputStream to, byte[] bytes) throws IOException {
        for (int i = 0; i < (bytes.length == 1 ? 1 : 1200); i++) {
            to.write(bytes[Math.min(i, bytes.length - 1)]);
            to.flush();
            RangeServer.sleep(50);
        }
        throw new EOFException("it closes the connection");
    }

    @Test
    void keptConnectionsThatAreDeadAreDroppedTogether() {
        CountDownLatch together = new CountDownLatch(3);
        AtomicBoolean dead = new AtomicBoolean();
        Set<Thread> old = ConcurrentHashMap.newKeySet(); // each serves one connection
        server.answer = (request, to) -> {
            if (dead.get() && old.contains(Thread.currentThread())) {
                RangeServer.sleep(60_000); // as behind a gateway that has forgotten the connection
            } else if (!dead.get()) {
                old.add(Thread.currentThread());
                if (request.number() > 0) {
                    together.countDown();
                    awaitAll(together);
                }
            }
            return false;
        };
        Options options = Options.none()
                .with(CommonOptions.REMOTE_TIMEOUT, Duration.ofMillis(300))
                .with(CommonOptions.REMOTE_ATTEMPTS, 2);
        try (Backend impatient = Backends.open("host", options);
                StorageFile file = get(impatient.openFile(server.uri()));
                DeviceBuffer buffer = get(impatient.allocate(BYTES))) {
            get(impatient.submit(Transfer.read(file.all(), buffer.all())));
            dead.set(true);
            Completion read = get(impatient.submit(Transfer.read(file.region(0, 1000), buffer.region(0, 1000))));
            assertThat(read.bytes()).isEqualTo(1000);
        }
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            if (!latch.await(20, TimeUnit.SECONDS)) {
                throw new AssertionError("the others have not come");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Binds to the port of a server that has been closed, whose last thread may still be leaving it. */
    private static void bind(ServerSocket socket, int port) throws IOException {
        for (int i = 0; ; i++) {
            try {
                socket.bind(new InetSocketAddress(InetAddress.getByName("localhost"), port), 1);
                return;
            } catch (BindException e) {
                if (i == 1000) {
                    throw e;
                }
                RangeServer.sleep(20);
            }
        }
    }
}
