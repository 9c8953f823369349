// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;

/** Files that are written, as the reader and as NumPy's format read them. */
class ArrayWriterTest {

    @TempDir
    Path folder;

    private Backend backend;

    @BeforeEach
    void open() {
        backend = Backends.open("host");
    }

    @AfterEach
    void close() {
        Hooks.resetOnErrorDropped();
        backend.close();
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void whatWasLoadedIsWrittenAndReadAgain() throws IOException {
        Path copy = folder.resolve("copy.safetensors");
        Files.writeString(copy, "the file before");
        try (LoadedArrays loaded = LoaderTest.get(Loader.of(backend).load(Real.file("model.safetensors")))) {
            long length = LoaderTest.get(ArrayWriter.of(backend)
                    .attributes(Map.of("note", "\"\u20ac"))
                    .safetensors(copy, loaded.arrays()));
            assertThat(Files.size(copy)).isEqualTo(length);
        }
        ArrayFile original = LoaderTest.get(Formats.read(Real.file("model.safetensors")));
        ArrayFile written = LoaderTest.get(Formats.read(copy));
        assertThat(written.attributes()).containsExactly(Map.entry("note", "\"\u20ac"));
        assertThat(written.arrays()).hasSameSizeAs(original.arrays());
        for (Array array : original.arrays()) {
            Array again = written.array(array.name()).orElseThrow();
            assertThat(again.type()).isEqualTo(array.type());
            assertThat(again.shape()).isEqualTo(array.shape());
            assertThat(Real.bytes(again)).as(array.name()).isEqualTo(Real.bytes(array));
            long offset = ((Extent) again.data()).offset();
            assertThat(offset % again.type().blockBytes()).as(array.name()).isZero();
        }
        assertThat(((Extent) written.arrays().get(0).data()).offset() % 4096).isZero();
        assertThat(names()).containsExactly("copy.safetensors");
    }

    /** The same array as numpy.save(numpy.arange(6, dtype='<i4').reshape(2, 3)) and others write it. */
    @Test
    void npyIsWhatNumPyWrites() throws IOException {
        Path file = folder.resolve("a.npy");
        for (Path real :
                List.of(Real.file("c.npy"), Real.file("f.npy"), Real.file("one.npy"), Real.file("scalar.npy"))) {
            byte[] expected = Files.readAllBytes(real);
            DeviceArray shape = described(real.getFileName().toString());
            byte[] data = Arrays.copyOfRange(expected, 128, expected.length);
            try (DeviceBuffer buffer = LoaderTest.get(backend.allocate(data.length))) {
                LoaderTest.get(buffer.upload(0, ByteBuffer.wrap(data)));
                DeviceArray array = new DeviceArray(
                        "a", shape.type(), shape.shape(), shape.byteOrder(), shape.order(), buffer.all());
                assertThat(LoaderTest.get(ArrayWriter.of(backend).npy(file, array)))
                        .isEqualTo(expected.length);
            }
            assertThat(Files.readAllBytes(file)).as("%s", real).isEqualTo(expected);
        }
    }

    private DeviceArray described(String name) {
        DeviceBuffer any = LoaderTest.get(backend.allocate(64));
        ByteOrder little = ByteOrder.LITTLE_ENDIAN;
        return switch (name) {
            case "c.npy" -> DeviceArray.of("a", ElementType.I32, List.of(2L, 3L), any.region(0, 24));
            case "f.npy" ->
                new DeviceArray(
                        "a",
                        ElementType.F64,
                        List.of(2L, 3L),
                        ByteOrder.BIG_ENDIAN,
                        Array.Order.COLUMN_MAJOR,
                        any.region(0, 48));
            case "one.npy" -> DeviceArray.of("a", ElementType.BOOL, List.of(5L), any.region(0, 5));
            default ->
                new DeviceArray("a", ElementType.F16, List.of(), little, Array.Order.ROW_MAJOR, any.region(0, 2));
        };
    }

    @Test
    void aNameMayBeAsLongAsAnyAndWhatIsNoRegularFileIsNotReplaced() throws IOException {
        try (DeviceBuffer buffer = LoaderTest.get(backend.allocate(24));
                ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            DeviceArray shape = described("c.npy");
            DeviceArray array =
                    new DeviceArray("a", shape.type(), shape.shape(), shape.byteOrder(), shape.order(), buffer.all());
            Path longest = folder.resolve("x".repeat(255));
            LoaderTest.get(ArrayWriter.of(backend).npy(longest, array));
            Path special = folder.resolve("socket"); // as /dev/null, which only root can lose
            socket.bind(UnixDomainSocketAddress.of(special));
            assertThatThrownBy(() -> LoaderTest.get(ArrayWriter.of(backend).npy(special, array)))
                    .hasMessageContaining("only a regular file is replaced");
            assertThat(names())
                    .containsExactlyInAnyOrder("socket", longest.getFileName().toString());
        }
    }

    @Test
    void aLongHeaderOfNpyIsOfVersionTwo() {
        Long[] ones = new Long[40_000];
        Arrays.fill(ones, 1L);
        BufferRegion one = LoaderTest.get(backend.allocate(1)).all();
        ByteBuffer header = ArrayWriter.Headers.npy(DeviceArray.of("a", ElementType.U8, List.of(ones), one));
        assertThat(header.get(6)).isEqualTo((byte) 2);
        assertThat(header.order(ByteOrder.LITTLE_ENDIAN).getInt(8)).isEqualTo(header.limit() - 12);
        assertThat(header.limit() % 64).isZero();
        String text = StandardCharsets.US_ASCII.decode(header.position(12)).toString();
        assertThat(text.endsWith(" \n")).isTrue();
        assertThat(text.stripTrailing().endsWith(" 1, 1), }")).isTrue();
    }

    @Test
    void whatAFormatDoesNotHaveIsRefusedAtOnce() {
        ArrayWriter writer = ArrayWriter.of(backend);
        BufferRegion bytes = LoaderTest.get(backend.allocate(64)).region(0, 16);
        DeviceArray bf16 = DeviceArray.of("a", ElementType.BF16, List.of(8L), bytes);
        DeviceArray complex = DeviceArray.of("a", ElementType.C128, List.of(1L), bytes);
        DeviceArray reversed =
                new DeviceArray("a", ElementType.F32, List.of(4L), ByteOrder.BIG_ENDIAN, Array.Order.ROW_MAJOR, bytes);
        Path file = folder.resolve("file");
        assertThatThrownBy(() -> writer.npy(file, bf16))
                .hasMessage("array a BF16 [8] has a type that cannot be written as npy");
        assertThatThrownBy(() -> writer.safetensors(file, List.of(complex))).hasMessageContaining("does not have");
        assertThatThrownBy(() -> writer.safetensors(file, List.of(reversed))).hasMessageContaining("little-endian");
        assertThatThrownBy(() -> writer.safetensors(file, List.of(bf16, bf16))).hasMessageContaining("that name");
    }

    /** As where the application has shut down Reactor's schedulers between two steps. */
    @Test
    void aFailureLeavesNothingThoughNoThreadTakesTheCall() throws IOException {
        DeviceBuffer buffer = LoaderTest.get(backend.allocate(16));
        DeviceArray array = DeviceArray.of("a", ElementType.U8, List.of(16L), buffer.all());
        AtomicInteger tasks = new AtomicInteger();
        Schedulers.onScheduleHook("rejects", task -> {
            if (tasks.getAndIncrement() > 0) { // the first creates the file
                throw Exceptions.failWithRejected();
            }
            return task;
        });
        try {
            assertThatThrownBy(() -> LoaderTest.get(ArrayWriter.of(backend).npy(folder.resolve("a.npy"), array)))
                    .isInstanceOf(RejectedExecutionException.class);
        } finally {
            Schedulers.resetOnScheduleHook("rejects");
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void aFailureLeavesNothing() throws IOException {
        DeviceBuffer buffer = LoaderTest.get(backend.allocate(16));
        DeviceArray array = DeviceArray.of("a", ElementType.U8, List.of(16L), buffer.all());
        ArrayWriter writer = ArrayWriter.of(backend);
        Path folderOfNone = folder.resolve("none").resolve("a.npy");
        assertThat(writer.npy(folderOfNone, array).materialize().block().getThrowable())
                .isInstanceOf(NoSuchFileException.class);
        Files.createDirectory(folder.resolve("taken"));
        Files.writeString(folder.resolve("taken").resolve("file"), "x");
        assertThat(writer.npy(folder.resolve("taken"), array)
                        .materialize()
                        .block()
                        .getThrowable())
                .isInstanceOf(IOException.class);
        buffer.close();
        assertThat(writer.npy(folder.resolve("closed"), array)
                        .materialize()
                        .block()
                        .isOnError())
                .isTrue();
        assertThat(names()).containsExactly("taken");
    }

    /** A disk that fails when everything has been written. */
    @Test
    void aFailedSyncLeavesTheOldFile() throws IOException {
        Path target = Files.writeString(folder.resolve("a.npy"), "old");
        DeviceBuffer buffer = LoaderTest.get(backend.allocate(16));
        DeviceArray array = DeviceArray.of("a", ElementType.U8, List.of(16L), buffer.all());
        Backend failing = replaced(
                Backend.class,
                backend,
                "openFile",
                result -> ((Mono<?>) result)
                        .map(file -> replaced(
                                StorageFile.class,
                                (StorageFile) file,
                                "sync",
                                sync -> ((Mono<?>) sync).then(Mono.error(new IOException("EIO"))))));
        assertThatThrownBy(() -> LoaderTest.get(ArrayWriter.of(failing).npy(target, array)))
                .hasMessageContaining("EIO");
        assertThat(target).hasContent("old");
        assertThat(names()).containsExactly("a.npy");
    }

    /** Returns an object one of whose methods has other results. */
    private static <T> T replaced(Class<T> type, T real, String method, UnaryOperator<Object> result) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, args) -> {
            if (called.getName().equals("withFile")) { // by the openFile of this
                return InvocationHandler.invokeDefault(proxy, called, args);
            }
            Object returned = called.invoke(real, args);
            return called.getName().equals(method) ? result.apply(returned) : returned;
        }));
    }

    @Test
    void aLinkStaysALinkAndWhatItRefersToIsWritten() throws IOException {
        DeviceBuffer buffer = LoaderTest.get(backend.allocate(16));
        DeviceArray array = DeviceArray.of("a", ElementType.U8, List.of(16L), buffer.all());
        ArrayWriter writer = ArrayWriter.of(backend);
        Path run = Files.createDirectories(folder.resolve("run/1"));
        Path file = Files.writeString(run.resolve("file"), "before");
        Path linkedFolder = Files.createSymbolicLink(folder.resolve("current"), Path.of("run/1"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("current/../1/file"));
        Path toLink = Files.createSymbolicLink(run.resolve("latest"), Path.of("../../link"));
        assertThat(writer.npy(linkedFolder.resolve("latest"), array).block()).isEqualTo(144);
        assertThat(link).isSymbolicLink();
        assertThat(toLink).isSymbolicLink();
        assertThat(file).hasSize(144);
        Path toNothing = Files.createSymbolicLink(folder.resolve("next"), Path.of("run/2"));
        writer.npy(toNothing, array).block();
        assertThat(toNothing).isSymbolicLink();
        assertThat(folder.resolve("run/2")).hasSize(144);
        Path loop = Files.createSymbolicLink(folder.resolve("loop"), Path.of("loop"));
        assertThat(writer.npy(loop, array).materialize().block().getThrowable())
                .isInstanceOf(FileSystemLoopException.class);
        assertThat(names()).containsExactlyInAnyOrder("run", "current", "link", "next", "loop");
    }

    @Test
    void aCancelAtAnySignalLeavesTheTargetAsItWasOrComplete() throws Exception {
        Path target = folder.resolve("a.npy");
        DeviceBuffer buffer = LoaderTest.get(backend.allocate(100_000));
        DeviceArray array = DeviceArray.of("a", ElementType.U8, List.of(100_000L), buffer.all());
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        Hooks.onErrorDropped(dropped::add);
        boolean completed = false;
        for (int cancelAt = 1; !completed; cancelAt++) {
            Files.writeString(target, "before");
            int last = cancelAt;
            AtomicInteger signals = new AtomicInteger();
            AtomicReference<Runnable> cancel = new AtomicReference<>();
            WatchedBackend watched = new WatchedBackend(backend, () -> {
                if (signals.incrementAndGet() == last) {
                    cancel.get().run();
                }
            });
            CountDownLatch over = new CountDownLatch(1);
            BaseSubscriber<Long> subscriber = new BaseSubscriber<>() {
                @Override
                protected void hookFinally(SignalType end) {
                    over.countDown();
                }
            };
            cancel.set(subscriber::cancel);
            ArrayWriter.of(watched.proxy()).npy(target, array).subscribe(subscriber);
            over.await();
            watched.awaitClosed();
            for (int i = 0; names().size() > 1 && i < 100_000; i++) {
                LockSupport.parkNanos(100_000);
            }
            assertThat(names()).as("cancelled at %s", last).containsExactly("a.npy");
            assertThat(Files.size(target)).isIn(6L, 100_128L);
            completed = signals.get() < last;
        }
        assertThat(Files.size(target)).isEqualTo(100_128);
        assertThat(dropped).isEmpty();
    }
}
