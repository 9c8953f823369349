// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Writes to a file that takes host memory by itself, from memory that the processor reaches and from a device's. */
class AsyncWritesTest {

    private static final int BYTES = 9_000_001; // of the file

    /** Opens the test's file. */
    public static final class Provider implements RemoteProvider {

        @Override
        public Set<String> schemes() {
            return Set.of("held");
        }

        @Override
        public Set<FileOption> fileOptions() {
            return Set.of(FileOption.READ, FileOption.WRITE, FileOption.CREATE);
        }

        @Override
        public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) {
            return file;
        }
    }

    /** A file that ends its writes when the test lets it, or at once, on the thread of the caller. */
    private static final class HeldFile implements AsyncFile {

        final byte[] bytes = new byte[BYTES];
        final List<Runnable> held = new ArrayList<>(); // under this
        final AtomicLong written = new AtomicLong();
        final AtomicInteger syncs = new AtomicInteger();
        final AtomicInteger closed = new AtomicInteger();
        final AtomicInteger cancelled = new AtomicInteger();
        volatile boolean holds;
        volatile @Nullable Throwable failure; // of the next write
        volatile @Nullable NativeFailure syncFailure;

        @Override
        public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> done) {
            to.put(bytes, (int) offset, to.remaining());
            done.accept(null);
            return () -> {};
        }

        @Override
        public Runnable write(long offset, ByteBuffer from, Consumer<@Nullable Throwable> done) {
            Throwable fails = failure;
            failure = null;
            Runnable end = () -> {
                int count = from.remaining();
                from.get(bytes, (int) offset, count);
                written.addAndGet(count);
                done.accept(fails);
            };
            if (holds) {
                synchronized (this) {
                    held.add(end);
                }
            } else {
                end.run();
            }
            return cancelled::incrementAndGet;
        }

        int heldCount() {
            synchronized (this) {
                return held.size();
            }
        }

        void endAll(Random random) {
            List<Runnable> now;
            synchronized (this) {
                now = new ArrayList<>(held);
                held.clear();
            }
            Collections.shuffle(now, random);
            now.forEach(Runnable::run);
        }

        @Override
        public void sync(Consumer<@Nullable NativeFailure> done) {
            assertThat(heldCount()).as("writes in flight").isZero();
            syncs.incrementAndGet();
            done.accept(syncFailure);
        }

        /** {@inheritDoc} More than a bounce buffer has. */
        @Override
        public Limits limits() {
            return Limits.none(RANGE_BYTES * 3 / 2);
        }

        @Override
        public long size() {
            return bytes.length;
        }

        @Override
        public Object identity() {
            return this;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    private static HeldFile file;

    private @TempDir Path temp;
    private ClassLoader before;
    private URLClassLoader services;

    @BeforeEach
    void open() throws IOException {
        file = new HeldFile();
        Path declared = temp.resolve("META-INF/services/" + RemoteProvider.class.getName());
        Files.createDirectories(declared.getParent());
        Files.writeString(declared, Provider.class.getName());
        before = Thread.currentThread().getContextClassLoader();
        services = new URLClassLoader(new URL[] {temp.toUri().toURL()}, Provider.class.getClassLoader());
        Thread.currentThread().setContextClassLoader(services);
    }

    @AfterEach
    void close() throws IOException {
        Thread.currentThread().setContextClassLoader(before);
        services.close();
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(30));
    }

    private static StorageFile openFile(Backend backend) {
        return get(backend.openFile(URI.create("held://here/file"), FileOption.READ, FileOption.WRITE));
    }

    private static byte[] random(int bytes, Random random) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        return data;
    }

    private static void awaitHeld(int count) throws InterruptedException {
        for (int i = 0; i < 3000 && file.heldCount() < count; i++) {
            Thread.sleep(5);
        }
        assertThat(file.heldCount()).isGreaterThanOrEqualTo(count);
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "opencl-ssg", "cufile"})
    void everyByteIsWrittenWhereItBelongs(String name) {
        Random random = new Random(7);
        byte[] data = random(BYTES, random);
        try (Backend backend = Devices.open(name);
                StorageFile open = openFile(backend);
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            ByteBuffer up = ByteBuffer.allocateDirect(BYTES).put(data).flip();
            get(buffer.upload(0, up));
            List<Transfer> writes = new ArrayList<>();
            for (int at = 0; at < BYTES; ) {
                int bytes = Math.min(BYTES - at, 1 + random.nextInt(2_000_000));
                writes.add(Transfer.write(buffer.region(at, bytes), open.region(at, bytes)));
                at += bytes;
            }
            long moved = get(Flux.merge(writes.stream().map(backend::submit).toList())
                    .doOnNext(completion -> assertThat(completion.path()).isEqualTo(TransferPath.REMOTE))
                    .map(Completion::bytes)
                    .reduce(0L, Long::sum));
            assertThat(moved).isEqualTo(BYTES);
            assertThat(file.bytes).isEqualTo(data);
            Arrays.fill(file.bytes, (byte) 0);
            get(backend.submit(Transfer.write(buffer.all(), open.region(0, BYTES)))); // cut into ranges
            assertThat(file.bytes).isEqualTo(data);
            assertThat(file.syncs).hasValue(0);
            get(open.sync());
            assertThat(file.syncs).hasValue(1);
        }
        assertThat(file.closed).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "opencl-ssg", "cufile"})
    void aSyncWaitsForTheWritesBeforeIt(String name) throws InterruptedException {
        file.holds = true;
        try (Backend backend = Devices.open(name);
                StorageFile open = openFile(backend);
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            Mono<Completion> written = backend.submit(Transfer.write(buffer.all(), open.region(0, BYTES)))
                    .cache();
            Disposable writing = written.subscribe();
            AtomicInteger durable = new AtomicInteger();
            open.sync().doOnSuccess(nothing -> durable.incrementAndGet()).subscribe();
            while (file.written.get() < BYTES) {
                awaitHeld(1);
                assertThat(durable).hasValue(0);
                assertThat(file.syncs).hasValue(0);
                file.endAll(new Random(1));
            }
            assertThat(get(written).bytes()).isEqualTo(BYTES);
            for (int i = 0; i < 3000 && durable.get() == 0; i++) {
                Thread.sleep(5);
            }
            assertThat(durable).hasValue(1);
            assertThat(writing.isDisposed()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "opencl-ssg", "cufile"})
    void aCancelledWriteKeepsItsMemoryUntilTheFileHasEnded(String name) throws InterruptedException {
        file.holds = true;
        try (Backend backend = Devices.open(name)) {
            StorageFile open = openFile(backend);
            DeviceBuffer buffer = get(backend.allocate(1000));
            Disposable writing = backend.submit(Transfer.write(buffer.all(), open.region(0, 1000)))
                    .subscribe();
            awaitHeld(1);
            writing.dispose();
            open.close();
            buffer.close();
            for (int i = 0; i < 3000 && file.cancelled.get() == 0; i++) {
                Thread.sleep(5);
            }
            assertThat(file.cancelled).as("its end was requested").hasValue(1);
            assertThat(backend.counters().pins()).isEqualTo(2);
            assertThat(file.closed).hasValue(0);
            file.endAll(new Random(1));
            for (int i = 0;
                    i < 3000
                            && (backend.counters().pins() > 0
                                    || backend.counters().buffers() > 0
                                    || file.closed.get() == 0);
                    i++) {
                Thread.sleep(5);
            }
            assertThat(backend.counters().pins()).isZero();
            assertThat(backend.counters().buffers()).isZero();
            assertThat(file.closed).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "opencl-ssg", "cufile"})
    void aFailedWriteSaysWhyAndTheNextOneWorks(String name) {
        try (Backend backend = Devices.open(name);
                StorageFile open = openFile(backend);
                DeviceBuffer buffer = get(backend.allocate(1000))) {
            Transfer write = Transfer.write(buffer.all(), open.region(0, 1000));
            file.failure = new NativeException(
                    "PUT", new NativeFailure(new NativeError("PUT", 503, "Slow Down"), NativeFailure.Kind.TRANSIENT));
            assertThatThrownBy(() -> get(backend.submit(write)))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("Slow Down");
            assertThat(get(backend.submit(write)).bytes()).isEqualTo(1000);
        }
    }

    @Test
    void aSyncThatFailedStaysFailed() {
        file.syncFailure = new NativeFailure(new NativeError("PUT", 507, "Full"), NativeFailure.Kind.PERMANENT);
        try (Backend backend = Devices.open("host");
                StorageFile open = openFile(backend)) {
            assertThatThrownBy(() -> get(open.sync()))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("Full");
            file.syncFailure = null;
            assertThatThrownBy(() -> get(open.sync())).isInstanceOf(PermanentStorageException.class);
        }
    }

    /** Nothing was started, so that nothing is lost. */
    @Test
    void aSyncThatMetALimitMayBeRepeated() {
        file.syncFailure = new NativeFailure(new NativeError("PUT", 503, "Slow Down"), NativeFailure.Kind.TRANSIENT);
        try (Backend backend = Devices.open("host");
                StorageFile open = openFile(backend)) {
            assertThatThrownBy(() -> get(open.sync()))
                    .isInstanceOf(TransientStorageException.class)
                    .hasMessageContaining("Slow Down");
            file.syncFailure = null;
            get(open.sync());
            assertThat(file.syncs).hasValue(2);
        }
    }

    @Test
    void optionsThatTheHostDoesNotHaveAreRefusedAtOnce() {
        try (Backend backend = Devices.open("host")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.openFile(URI.create("held://here/file"), FileOption.DIRECT))
                    .withMessageContaining("options must be among [READ, WRITE, CREATE]");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.openFile(URI.create("held://here/file"), FileOption.CREATE))
                    .withMessageContaining("require WRITE");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.openFile(URI.create("http://here/file"), FileOption.WRITE))
                    .withMessageContaining("options must be among [READ, IMMUTABLE]");
        }
    }
}
