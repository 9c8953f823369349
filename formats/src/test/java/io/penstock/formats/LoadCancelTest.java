// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.file.BlockingCall;
import io.penstock.formats.read.Headers;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/** A load that is cancelled, whenever that is, leaves no file open and no buffer allocated. */
class LoadCancelTest {

    private static final int RANDOM_CANCELS = 200;

    /** Closes what it gets, as an owner does, and notices the end. */
    static final class Owner extends BaseSubscriber<LoadedArrays> {

        final CountDownLatch over = new CountDownLatch(1);

        @Override
        protected void hookOnNext(LoadedArrays arrays) {
            arrays.close();
        }

        @Override
        protected void hookFinally(SignalType end) {
            over.countDown();
        }
    }

    @TempDir
    Path folder;

    private Backend backend;
    private Path[] files;

    @BeforeEach
    void open() throws IOException {
        backend = Backends.open("host");
        files = new Path[3];
        for (int i = 0; i < files.length; i++) {
            files[i] = SafetensorsFile.write(
                    folder.resolve("m" + i + ".safetensors"),
                    List.of(
                            SafetensorsFile.bytes("a" + i, 20_000),
                            SafetensorsFile.bytes("b" + i, 7),
                            SafetensorsFile.bytes("c" + i, 30_000)));
        }
    }

    @AfterEach
    void close() {
        backend.close();
    }

    private Loader loader(Backend watched) {
        return Loader.of(watched).bufferPerArray().transferBytes(8192);
    }

    @Test
    void aCancelAtAnySignalFreesEverything() throws InterruptedException {
        int delivered = 0;
        int cancelAt = 0;
        boolean completed = false;
        while (!completed) {
            int last = ++cancelAt;
            AtomicInteger signals = new AtomicInteger();
            AtomicReference<Runnable> cancel = new AtomicReference<>();
            WatchedBackend watched = new WatchedBackend(backend, () -> {
                if (signals.incrementAndGet() == last) {
                    cancel.get().run();
                }
            });
            Owner owner = new Owner();
            cancel.set(owner::cancel);
            loader(watched.proxy()).load(files).subscribe(owner);
            owner.over.await();
            delivered = Math.max(delivered, watched.delivered());
            watched.awaitClosed();
            completed = signals.get() < last;
        }
        assertThat(delivered).as("buffers and files").isEqualTo(9 + 3);
        assertThat(cancelAt).as("signals").isGreaterThan(3 * (9 + 3));
    }

    @Test
    void aCancelAtAnyTimeFreesEverything() throws InterruptedException {
        Random random = new Random(17);
        WatchedBackend watched = new WatchedBackend(backend, () -> {});
        Loader loader = loader(watched.proxy());
        long typical = 0;
        for (int i = 0; i < 20; i++) { // the last of them, when its code is compiled
            long start = System.nanoTime();
            loader.load(files).doOnNext(LoadedArrays::close).block();
            typical = System.nanoTime() - start;
        }
        for (int i = 0; i < RANDOM_CANCELS; i++) {
            Owner owner = new Owner();
            loader.load(files).subscribe(owner);
            LockSupport.parkNanos((long) (random.nextDouble() * typical));
            owner.cancel();
            owner.over.await();
            watched.awaitClosed();
        }
    }

    @Test
    void aCancelWhileArraysPassThroughTheHostFreesEverything() throws InterruptedException {
        boolean completed = false;
        for (int cancelAt = 1; !completed; cancelAt++) {
            int last = cancelAt;
            AtomicInteger signals = new AtomicInteger();
            AtomicReference<Runnable> cancel = new AtomicReference<>();
            WatchedBackend watched = new WatchedBackend(backend, () -> {
                if (signals.incrementAndGet() == last) {
                    cancel.get().run();
                }
            });
            Owner owner = new Owner();
            cancel.set(owner::cancel);
            Loader.of(watched.proxy())
                    .bufferPerArray()
                    .load(Real.file("numpy/deflated.npz"))
                    .subscribe(owner);
            owner.over.await();
            watched.awaitClosed();
            completed = signals.get() < last;
        }
    }

    /** Returns an array whose bytes are read, and reversed, by the host. */
    private Path bigEndian(int bytes) throws IOException {
        String header = String.format("{'descr': '>f4', 'fortran_order': False, 'shape': (%d,), }", bytes / 4);
        ByteBuffer file = ByteBuffer.allocate(128 + bytes).order(ByteOrder.LITTLE_ENDIAN);
        file.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}).putShort((short) 118);
        file.put(String.format("%-117s\n", header).getBytes(StandardCharsets.US_ASCII));
        return Files.write(folder.resolve("swapped.npy"), file.array());
    }

    /**
     * The first failure interrupts the other reads of the host: what they throw is their end, and no news for anybody.
     */
    @Test
    void aFailureWhileTheHostReadsIsTheOnlyOne() throws IOException, InterruptedException {
        Path swapped = bigEndian(48 << 20);
        ArrayFile read = Formats.read(swapped).block();
        try (FileChannel channel = FileChannel.open(swapped, StandardOpenOption.WRITE)) {
            channel.truncate(9 << 20);
        }
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            WatchedBackend watched = new WatchedBackend(backend, () -> {});
            for (int i = 0; i < 20; i++) {
                assertThatThrownBy(() -> Loader.of(watched.proxy())
                                .littleEndian()
                                .load(read)
                                .block())
                        .hasStackTraceContaining("EOFException");
                watched.awaitClosed();
            }
            assertThat(dropped).isEmpty();
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    /** A cancel interrupts the call, and what that throws is no news either. */
    @Test
    void aCancelWhileMetadataAreReadIsSilent() throws InterruptedException {
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        Hooks.onErrorDropped(dropped::add);
        CountDownLatch reading = new CountDownLatch(1);
        AtomicReference<Thread> reader = new AtomicReference<>();
        try {
            Disposable read = BlockingCall.of(() -> Headers.read(List.of(() -> {
                        reader.set(Thread.currentThread());
                        reading.countDown();
                        new CountDownLatch(1).await();
                        throw new AssertionError("not interrupted");
                    })))
                    .subscribe();
            reading.await();
            read.dispose();
            Thread thread = reader.get();
            while (Arrays.stream(thread.getStackTrace())
                    .anyMatch(frame -> frame.getClassName().startsWith("reactor.core.scheduler"))) {
                Thread.onSpinWait(); // until the thread has come back from the call, and what follows it
            }
            assertThat(dropped).isEmpty();
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    @Test
    void aFailureFreesEverything() throws IOException {
        WatchedBackend watched = new WatchedBackend(backend, () -> {});
        ArrayFile read = Formats.read(files[0]).block();
        SafetensorsFile.write(files[0], List.of(SafetensorsFile.bytes("a", 10)));
        assertThat(loader(watched.proxy()).load(read).materialize().block().isOnError())
                .isTrue();
        assertThat(watched.delivered()).isEqualTo(3 + 1);
        watched.awaitClosed();
    }

    /** The first files are opened while memory is allocated. */
    @Test
    void aFileThatIsNotThereFreesWhatWasAllocated() throws IOException {
        WatchedBackend watched = new WatchedBackend(backend, () -> {});
        ArrayFile read = Formats.read(files[0]).block();
        Files.delete(files[0]);
        assertThatThrownBy(() -> loader(watched.proxy()).load(read).block())
                .hasCauseInstanceOf(NoSuchFileException.class);
        watched.awaitClosed();
    }

    @Test
    void anAllocationThatFailsClosesTheFilesThatWereOpened() {
        WatchedBackend watched = new WatchedBackend(backend, () -> {});
        Backend all = watched.proxy();
        AtomicInteger allocations = new AtomicInteger();
        Backend few = (Backend) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("allocate") && allocations.incrementAndGet() > 2) {
                        return Flux.interval(Duration.ofMillis(1))
                                .takeUntil(tick -> watched.delivered() > 2) // a file, too
                                .then(Mono.error(new IllegalStateException("no memory left")));
                    }
                    return method.isDefault()
                            ? InvocationHandler.invokeDefault(proxy, method, arguments)
                            : method.invoke(all, arguments);
                });
        assertThatThrownBy(() -> loader(few).load(files).block())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no memory left");
        watched.awaitClosed();
    }

    @Test
    void closingTheArraysClosesTheirBuffers() {
        WatchedBackend watched = new WatchedBackend(backend, () -> {});
        LoadedArrays loaded = loader(watched.proxy()).load(files).block();
        assertThat(watched.delivered()).isEqualTo(9 + 3);
        loaded.close();
        watched.awaitClosed();
    }
}
