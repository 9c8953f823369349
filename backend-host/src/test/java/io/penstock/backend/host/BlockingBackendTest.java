// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BlockingBackend;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The backend for code that blocks. */
class BlockingBackendTest {

    private static final int SIZE = 100_000;

    @TempDir
    Path folder;

    private Backend backend;
    private BlockingBackend blocking;
    private byte[] bytes;
    private Path path;

    @BeforeEach
    void open() throws IOException {
        backend = Backends.open();
        blocking = backend.blocking();
        bytes = new byte[SIZE];
        new Random(1).nextBytes(bytes);
        path = Files.write(folder.resolve("data"), bytes);
    }

    @AfterEach
    void close() {
        assertThat(Thread.interrupted()).as("left interrupted").isFalse();
        backend.close();
    }

    @Test
    void filesBuffersAndTransfersAreUsedWithoutReactor() throws Exception {
        Path copy = folder.resolve("copy");
        try (StorageFile file = blocking.openFile(path);
                StorageFile to = blocking.openFile(copy, FileOption.WRITE, FileOption.CREATE);
                DeviceBuffer buffer = blocking.allocate(SIZE)) {
            assertThat(blocking.submit(Transfer.read(file.all(), buffer.all())).bytes())
                    .isEqualTo(SIZE);
            List<Completion> ends = blocking.submit(List.of(
                    Transfer.write(buffer.region(0, 1000), to.region(0, 1000)),
                    Transfer.write(buffer.region(1000, SIZE - 1000), to.region(1000, SIZE - 1000))));
            assertThat(ends).extracting(Completion::bytes).containsExactly(1000L, SIZE - 1000L);
            assertThat(blocking.<Void>await(to.sync())).isNull();
        }
        assertThat(copy).hasBinaryContent(bytes);
    }

    @Test
    void streamsAndWritesRunTheirFunctionOnTheCallingThread() throws Exception {
        byte[] seen = new byte[SIZE];
        Thread caller = Thread.currentThread();
        blocking.stream(StreamPlan.of(path).chunkBytes(7000), chunk -> {
            assertThat(Thread.currentThread()).isSameAs(caller);
            chunk.view().read(0, ByteBuffer.wrap(seen, (int) chunk.fileOffset(), (int) chunk.length()));
        });
        assertThat(seen).isEqualTo(bytes);

        Path copy = folder.resolve("copy");
        long written = blocking.write(WritePlan.to(copy).chunkBytes(7000), chunk -> {
            int length = (int) Math.min(chunk.length(), SIZE - chunk.fileOffset());
            chunk.view().write(0, ByteBuffer.wrap(bytes, (int) chunk.fileOffset(), length));
            return length;
        });
        assertThat(written).isEqualTo(SIZE);
        assertThat(copy).hasBinaryContent(bytes);
    }

    @Test
    void failuresAreThrownAsTheyAre() {
        Path missing = folder.resolve("missing");
        assertThatThrownBy(() -> blocking.openFile(missing)).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> blocking.stream(StreamPlan.of(missing), chunk -> {}))
                .isInstanceOf(NoSuchFileException.class);
        IllegalStateException own = new IllegalStateException("the function's own");
        assertThatThrownBy(() -> blocking.stream(StreamPlan.of(path), chunk -> {
                    throw own;
                }))
                .isSameAs(own);
        backend.close();
        assertThatThrownBy(() -> blocking.allocate(10))
                .isInstanceOf(ClosedException.class)
                .satisfies(e -> assertThat(e.getSuppressed()[0].getStackTrace())
                        .as("the caller's stack trace")
                        .anyMatch(
                                frame -> frame.getClassName().equals(getClass().getName())));
    }

    @Test
    void anInterruptCancels() {
        AtomicBoolean cancelled = new AtomicBoolean();
        Mono<Long> never = Mono.<Long>never().doOnCancel(() -> cancelled.set(true));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> blocking.await(never)).isInstanceOf(InterruptedException.class);
        assertThat(cancelled).isTrue();
        List<Long> used = new ArrayList<>();
        assertThatThrownBy(() -> blocking.stream(StreamPlan.of(path).chunkBytes(1000), chunk -> {
                    used.add(chunk.index());
                    Thread.currentThread().interrupt();
                }))
                .isInstanceOf(InterruptedException.class);
        assertThat(used).containsExactly(0L);
    }

    /** The failure comes while the interrupt wakes the thread. */
    @Test
    void anInterruptIsKeptIfTheOperationFailsFirst() {
        Thread caller = Thread.currentThread();
        for (int i = 0; i < 100; i++) {
            Mono<Long> failing = Mono.create(sink -> Schedulers.boundedElastic().schedule(() -> {
                while (caller.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                caller.interrupt();
                sink.error(new IllegalArgumentException("meant to fail"));
            }));
            assertThatThrownBy(() -> blocking.await(failing))
                    .satisfies(e -> assertThat(Thread.interrupted())
                            .as("interrupted after " + e)
                            .isEqualTo(e instanceof IllegalArgumentException));
        }
    }

    @Test
    void aThreadThatMustNotBlockIsRefused() {
        assertThatThrownBy(() -> Mono.fromCallable(() -> blocking.allocate(10))
                        .subscribeOn(Schedulers.parallel())
                        .block())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("may block");
    }

    @Test
    void aFutureIsCancelledWithItsPublisher() {
        AtomicBoolean cancelled = new AtomicBoolean();
        CompletableFuture<Long> future = blocking.future(Mono.<Long>never().doOnCancel(() -> cancelled.set(true)));
        future.cancel(true);
        assertThat(cancelled).isTrue();
        assertThat(blocking.future(backend.withFile(path, FileOption.READ, file -> Mono.just(file.size()))))
                .succeedsWithin(java.time.Duration.ofSeconds(30))
                .isEqualTo((long) SIZE);
    }

    /** Carrier threads stay free: 200 virtual threads read at once, and the JVM records none that is pinned. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "there are no virtual threads")
    void virtualThreadsDoNotPin() throws Exception {
        Path events = folder.resolve("events.jfr");
        try (Recording recording = new Recording();
                StorageFile file = blocking.openFile(path)) {
            ExecutorService virtual = (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            readAtOnce(virtual, file); // loads classes: the JVM pins a thread that waits for that
            recording.enable("jdk.VirtualThreadPinned").withoutThreshold();
            recording.start();
            readAtOnce(virtual, file);
            virtual.shutdown();
            recording.dump(events);
        }
        assertThat(RecordingFile.readAllEvents(events))
                .as("threads pinned in code of Penstock")
                .noneMatch(BlockingBackendTest::isOurs);
    }

    private void readAtOnce(ExecutorService threads, StorageFile file) throws Exception {
        List<Future<Long>> reads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            reads.add(threads.submit(() -> read(file)));
        }
        for (Future<Long> read : reads) {
            assertThat(read.get()).isEqualTo(SIZE);
        }
    }

    private long read(StorageFile file) throws InterruptedException {
        try (DeviceBuffer buffer = blocking.allocate(SIZE)) {
            return blocking.submit(Transfer.read(file.all(), buffer.all())).bytes();
        }
    }

    private static boolean isOurs(RecordedEvent pinned) {
        return pinned.getStackTrace() != null
                && pinned.getStackTrace().getFrames().stream()
                        .anyMatch(
                                frame -> frame.getMethod().getType().getName().startsWith("io.penstock.BlockingBackend")
                                        || frame.getMethod().getType().getName().startsWith("io.penstock.engine"));
    }
}
