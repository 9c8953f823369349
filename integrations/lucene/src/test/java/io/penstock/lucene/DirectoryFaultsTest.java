// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.lucene.LuceneOptions.Fallback;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.MergeInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** What fails, ends early, or is refused. */
class DirectoryFaultsTest {

    private static final IOContext MERGE = IOContext.merge(new MergeInfo(1, 1 << 20, false, 1));

    /** What a transfer does instead of being made. */
    private enum Fault {
        NONE,
        FAIL,
        HANG,
        THROW
    }

    @TempDir(factory = OnDisk.class)
    Path folder;

    private Backend backend;
    private volatile Fault fault = Fault.NONE;
    private volatile boolean refused; // io_uring
    private final CountDownLatch asked = new CountDownLatch(1);

    @BeforeEach
    void open() {
        backend = Backends.open("host");
    }

    @AfterEach
    void close() {
        Left.awaitNothing(backend);
        backend.close();
    }

    private Backend faulty() {
        return (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("isFallback")) {
                        return refused;
                    }
                    if (method.getName().equals("submit") && arguments[0] instanceof Transfer && fault != Fault.NONE) {
                        asked.countDown();
                        if (fault == Fault.THROW) {
                            throw new IllegalStateException("no transfer");
                        }
                        return fault == Fault.HANG
                                ? Mono.never()
                                : Mono.error(
                                        new TransientStorageException("read -> EIO (5)", Failure.NOT_STARTED, null));
                    }
                    try {
                        return method.invoke(backend, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private PenstockDirectory directory(Fallback fallback) throws IOException {
        Options options = Options.none()
                .with(LuceneOptions.ANNOUNCED, "*.vec")
                .with(LuceneOptions.WINDOW_BYTES, 64L << 10)
                .with(LuceneOptions.FALLBACK, fallback);
        return PenstockDirectory.open(folder, faulty(), options, FSLockFactory.getDefault());
    }

    private void write() throws IOException {
        try (Directory plain = new MMapDirectory(folder)) {
            VectorIndex.write(plain, VectorIndex.Format.FULL, 1, 300, false, false);
        }
    }

    private static FloatVectorValues values(DirectoryReader reader) throws IOException {
        return reader.leaves().get(0).reader().getFloatVectorValues(VectorIndex.FIELD);
    }

    @Test
    void aGatherThatFailsNamesTheFileAndTheNextOneWorks() throws IOException {
        write();
        try (PenstockDirectory served = directory(Fallback.THREADS);
                DirectoryReader reader = DirectoryReader.open(served)) {
            FloatVectorValues values = values(reader);
            float[] right = values.copy().vectorValue(7).clone();
            int[] ordinals = {5, 7, 100};
            served.announce(values, ordinals, 3);
            fault = Fault.FAIL;
            assertThatThrownBy(() -> values.copy().vectorValue(5))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(".vec: read -> EIO (5)")
                    .hasCauseInstanceOf(TransientStorageException.class);
            assertThat(values.copy().vectorValue(7)).as("without its batch").isEqualTo(right);
            fault = Fault.NONE;
            served.announce(values, ordinals, 3);
            assertThat(values.copy().vectorValue(7)).isEqualTo(right);
            assertThat(served.counters().gathered()).isEqualTo(6);
        }
    }

    @Test
    void aGatherThatIsNotEvenSubmittedLeavesNoMemory() throws IOException {
        write();
        try (PenstockDirectory served = directory(Fallback.THREADS);
                DirectoryReader reader = DirectoryReader.open(served)) {
            FloatVectorValues values = values(reader);
            float[] right = values.copy().vectorValue(7).clone();
            served.announce(values, new int[] {5, 7, 100}, 3);
            fault = Fault.THROW;
            assertThatThrownBy(() -> values.copy().vectorValue(5)).hasMessage("no transfer");
            assertThat(backend.counters().buffers()).as("buffers").isZero();
            assertThat(served.announcements().bytes()).isZero();
            fault = Fault.NONE;
            assertThat(values.copy().vectorValue(7)).as("without its batch").isEqualTo(right);
        }
    }

    @Test
    void whatWasAnnouncedOfAClosedFileIsGivenUpByTheNextBatch() throws IOException {
        write();
        try (PenstockDirectory served = directory(Fallback.THREADS)) {
            int[] ordinals = {5, 7, 100};
            try (DirectoryReader reader = DirectoryReader.open(served)) {
                FloatVectorValues values = values(reader);
                served.announce(values, ordinals, 3);
                values.copy().vectorValue(5); // submits them, and leaves two
                served.announce(values, new int[] {200}, 1); // is not even submitted
            }
            assertThat(served.counters().givenUp()).isZero();
            try (DirectoryReader reader = DirectoryReader.open(served)) {
                FloatVectorValues values = values(reader);
                served.announce(values, ordinals, 1);
                values.copy().vectorValue(5);
                assertThat(served.counters().givenUp()).isEqualTo(3);
                assertThat(served.announcements().bytes()).isZero();
                assertThat(backend.counters().buffers()).as("buffers").isZero();
            }
        }
    }

    @Test
    void aReadAheadThatFailsNamesTheFileAndTheNextOneWorks() throws IOException {
        write();
        try (PenstockDirectory served = directory(Fallback.THREADS)) {
            String name = vectors(served);
            try (IndexInput input = served.openInput(name, MERGE)) {
                byte[] right = new byte[4096];
                byte[] bytes = new byte[4096];
                for (int i = 0; i < 3; i++) {
                    input.readBytes(right, 0, 4096);
                }
                assertThat(served.counters().mergeRead()).isPositive();
                fault = Fault.FAIL;
                IndexInput clone = input.clone();
                clone.seek(0);
                clone.readBytes(bytes, 0, 4096);
                clone.readBytes(bytes, 0, 4096);
                assertThatThrownBy(() -> clone.readBytes(bytes, 0, 4096)).hasMessageContaining(".vec: read -> EIO (5)");
                fault = Fault.NONE;
                assertThat(clone.getFilePointer()).isEqualTo(8192);
                clone.readBytes(bytes, 0, 4096);
                assertThat(bytes).isEqualTo(right);
            }
        }
    }

    private void write(String name, byte[] content) throws IOException {
        try (PenstockDirectory served = directory(Fallback.THREADS);
                IndexOutput output = served.createOutput(name, MERGE)) {
            output.writeBytes(content, content.length);
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @Test
    void aReaderThatTakesAllInOrderHasWindowsInFlight() throws IOException {
        byte[] content = random(20 << 16);
        write("_0.vec", content);
        try (PenstockDirectory served = directory(Fallback.THREADS);
                IndexInput input = served.openInput("_0.vec", MERGE)) {
            byte[] bytes = new byte[1 << 16];
            for (int i = 0; i < 10; i++) {
                input.readBytes(bytes, 0, bytes.length);
                assertThat(bytes).isEqualTo(Arrays.copyOfRange(content, i << 16, (i + 1) << 16));
            }
            // the first two were not served; those that were, and two windows ahead
            assertThat(served.counters().mergeRead()).isBetween(10L << 16, 11L << 16);
        }
    }

    /** Windows that were passed over are still being read into. */
    @Test
    void aReaderThatSkipsHasTheRightBytes() throws IOException {
        byte[] content = random(5_000_001);
        write("_0.vec", content);
        Random random = new Random(49);
        try (PenstockDirectory served = directory(Fallback.THREADS);
                IndexInput input = served.openInput("_0.vec", MERGE)) {
            for (int round = 0; round < 50; round++) {
                IndexInput clone = input.slice("a field", 777, content.length - 1000);
                long at = random.nextInt(100_000);
                while (at < clone.length() - 70_000) {
                    byte[] bytes = new byte[512 + random.nextInt(60_000)];
                    clone.seek(at);
                    clone.readBytes(bytes, 0, bytes.length);
                    int from = (int) at + 777;
                    assertThat(bytes).isEqualTo(Arrays.copyOfRange(content, from, from + bytes.length));
                    at += bytes.length + (random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(3000));
                }
            }
            assertThat(served.counters().mergeRead()).isGreaterThan(content.length);
        }
    }

    @Test
    void aWriteThatFailsIsReportedAtTheCloseAtTheLatest() throws IOException {
        try (PenstockDirectory served = directory(Fallback.THREADS)) {
            IndexOutput output = served.createOutput("_0.vec", MERGE);
            fault = Fault.FAIL;
            output.writeBytes(new byte[1000], 1000);
            assertThatThrownBy(output::close).hasMessageContaining("_0.vec: read -> EIO (5)");
            fault = Fault.NONE;
        }
    }

    @Test
    void anInterruptEndsTheWaitAndClosesNothing() throws Exception {
        write();
        try (PenstockDirectory served = directory(Fallback.THREADS);
                DirectoryReader reader = DirectoryReader.open(served)) {
            FloatVectorValues values = values(reader);
            AtomicReference<Throwable> ended = new AtomicReference<>();
            fault = Fault.HANG;
            Thread thread = new Thread(() -> {
                try {
                    served.announce(values, new int[] {5, 9}, 2);
                    values.copy().vectorValue(5);
                } catch (IOException e) {
                    ended.set(e);
                }
            });
            thread.start();
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            thread.interrupt();
            thread.join(20_000);
            assertThat(ended.get()).isInstanceOf(InterruptedIOException.class);
            fault = Fault.NONE;
            served.announce(values, new int[] {5, 9}, 2);
            values.copy().vectorValue(5);
        }
    }

    @Test
    void whatIsClosedSaysSo() throws IOException {
        write();
        PenstockDirectory served = directory(Fallback.THREADS);
        IndexInput input = served.openInput(vectors(served), MERGE);
        IndexInput clone = input.clone();
        byte[] bytes = new byte[4096];
        for (int i = 0; i < 4; i++) {
            clone.readBytes(bytes, 0, 4096);
        }
        input.close();
        assertThatThrownBy(() -> clone.readBytes(bytes, 0, 4096)).isInstanceOf(AlreadyClosedException.class);
        served.close();
        assertThatThrownBy(() -> served.openInput("any", MERGE)).isInstanceOf(AlreadyClosedException.class);
    }

    @Test
    void withoutTheRingAllIsLeftToMMapDirectoryOrRefused() throws IOException {
        write();
        refused = true;
        try (PenstockDirectory plain = directory(Fallback.MMAP);
                IndexInput input = plain.openInput(vectors(plain), MERGE)) {
            assertThat(input).isNotInstanceOf(VectorInput.class);
        }
        assertThatThrownBy(() -> directory(Fallback.REFUSE))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("backend host has no io_uring: ");
    }

    @Test
    void whatItDoesIsMetered() throws IOException {
        write();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (PenstockDirectory served = directory(Fallback.THREADS);
                DirectoryReader reader = DirectoryReader.open(served)) {
            new LuceneMeters(served, "books").bindTo(registry);
            served.announce(values(reader), new int[] {1, 50}, 2);
            values(reader).vectorValue(50);
            assertThat(registry.get("penstock.lucene.gathered")
                            .tag("index", "books")
                            .functionCounter()
                            .count())
                    .isEqualTo(2);
        }
    }

    private static String vectors(Directory directory) throws IOException {
        for (String name : directory.listAll()) {
            if (name.endsWith(".vec")) {
                return name;
            }
        }
        throw new AssertionError("no vectors");
    }
}
