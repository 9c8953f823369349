// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.HostLease;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Runs a mix of everything that a backend does for a long time, every second operation cancelled at a random moment,
 * and records what the process holds: nothing may grow.
 *
 * <p>{@code tools/benchmarks/run soak [BACKEND [MINUTES [FOLDER]]]}: 30 minutes on {@code host} by default. Leaves
 * {@code soak-BACKEND.csv} and a graph of it, {@code soak-BACKEND.svg}, in the folder. Exits with 1 if an operation
 * fails, bytes are wrong, or there are more descriptors or slabs at the end than in the first minute.
 */
public final class Soak {

    private static final int FILE_BYTES = 1 << 20;
    private static final int THREADS = 2;
    private static final int CANCEL_NANOS = 300_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration EVERY = Duration.ofSeconds(10);
    private static final Duration WARM_UP = Duration.ofMinutes(1);

    private final Backend backend;
    private final Path path;
    private final Path output;
    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong cancels = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean over;

    private Soak(Backend backend, Path folder) throws IOException {
        this.backend = backend;
        this.path = folder.resolve("soak.data");
        this.output = folder.resolve("soak.out");
        byte[] content = new byte[FILE_BYTES];
        for (int i = 0; i < FILE_BYTES; i++) {
            content[i] = byteAt(i);
        }
        Files.write(path, content);
        Files.write(output, new byte[FILE_BYTES]);
    }

    private static byte byteAt(long offset) {
        return (byte) (offset * 31 + (offset >> 8));
    }

    /** Runs it; see {@link Soak}. */
    public static void main(String[] arguments) throws Exception {
        String name = arguments.length > 0 ? arguments[0] : "host";
        Duration duration = Duration.ofMinutes(arguments.length > 1 ? Long.parseLong(arguments[1]) : 30);
        Path folder = Files.createDirectories(Path.of(arguments.length > 2 ? arguments[2] : "."));
        Path data = Files.createTempDirectory(folder, "soak");
        SoakRecord samples = new SoakRecord();
        try (Backend backend = Backends.open(name)) {
            Soak soak = new Soak(backend, data);
            soak.run(duration, samples);
            samples.write(folder, name);
            Throwable failed = soak.failure.get();
            if (failed != null) {
                throw new IllegalStateException("an operation of the soak failed", failed);
            }
        } finally {
            Files.deleteIfExists(data.resolve("soak.data"));
            Files.deleteIfExists(data.resolve("soak.out"));
            Files.deleteIfExists(data);
        }
        List<String> grown = samples.grown(WARM_UP);
        System.out.println(samples.last() + (grown.isEmpty() ? "; nothing has grown" : "; GROWN: " + grown));
        System.exit(grown.isEmpty() ? 0 : 1);
    }

    private void run(Duration duration, SoakRecord samples) throws InterruptedException, IOException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(this::work, "soak-" + i);
            threads[i].start();
        }
        long start = System.nanoTime();
        while (System.nanoTime() - start < duration.toNanos() && failure.get() == null) {
            Thread.sleep(EVERY.toMillis());
            samples.add(Duration.ofNanos(System.nanoTime() - start), operations.get(), cancels.get(), slabs());
        }
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        Thread.sleep(EVERY.toMillis()); // cancelled transfers terminate when the device releases them
        samples.add(Duration.ofNanos(System.nanoTime() - start), operations.get(), cancels.get(), slabs());
    }

    private static long slabs() {
        return Slabs.shared().liveBytes();
    }

    private void work() {
        try (StorageFile file = got(backend.openFile(path, FileOption.READ));
                StorageFile out = got(backend.openFile(output, FileOption.READ, FileOption.WRITE));
                DeviceBuffer buffer = got(backend.allocate(FILE_BYTES))) {
            while (!over && failure.get() == null) {
                one(file, out, buffer);
                operations.incrementAndGet();
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    private void one(StorageFile file, StorageFile out, DeviceBuffer buffer) throws InterruptedException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Flux<Object> disposing = Flux.<Object>from(operation(random, file, out, buffer))
                .doOnNext(Soak::dispose)
                .doOnDiscard(HostLease.class, HostLease::close);
        if (random.nextBoolean()) {
            disposing.blockLast(PATIENCE);
            return;
        }
        Disposable subscription = disposing.subscribe(any -> {}, e -> failure.compareAndSet(null, e));
        long moment = System.nanoTime() + random.nextInt(CANCEL_NANOS);
        while (System.nanoTime() - moment < 0) {
            Thread.onSpinWait();
        }
        subscription.dispose();
        cancels.incrementAndGet();
    }

    private Publisher<?> operation(ThreadLocalRandom random, StorageFile file, StorageFile out, DeviceBuffer buffer) {
        int bytes = 1 + random.nextInt(64 << 10);
        long at = random.nextInt(FILE_BYTES - bytes);
        Transfer read = Transfer.read(file.region(at, bytes), buffer.region(at, bytes));
        StreamPlan plan = StreamPlan.of(path).chunkBytes(100_000).depth(2);
        return switch (random.nextInt(14)) {
            case 0 -> backend.openFile(path, FileOption.READ);
            case 1 -> backend.allocate(bytes);
            case 2 ->
                backend.withFile(
                        path,
                        FileOption.READ,
                        opened -> backend.withBuffer(
                                bytes,
                                memory -> backend.submit(Transfer.read(opened.region(at, bytes), memory.all()))
                                        .flatMap(completion -> check(memory, at, bytes))));
            case 3 -> backend.submit(read);
            case 4 -> backend.submit(Flux.range(0, 20).map(i -> read));
            case 5 -> backend.enqueue(read);
            case 6 -> backend.stream(plan, chunk -> Mono.just(chunk.length()));
            case 7 ->
                backend.stream(
                        plan,
                        chunk -> buffer.hostView().isPresent() ? Mono.just(chunk.retain()) : Mono.just(chunk.length()));
            case 8 ->
                backend.write(
                        WritePlan.to(out.region(0, 50_000)).chunkBytes(10_000).depth(2),
                        chunk -> Mono.just(chunk.length()));
            case 9 -> backend.submit(Transfer.write(buffer.region(at, bytes), out.region(at, bytes)));
            case 10 -> out.sync();
            case 11 -> buffer.upload(at, ByteBuffer.allocateDirect(4096).limit(Math.min(4096, bytes)));
            case 12 -> backend.submit(read.deadline(Duration.ofMinutes(5)).ordered(out));
            default ->
                backend.submit(Transfer.gather(file, new long[] {0, at, 4096}, 4096, buffer.region(0, 3 * 4096)));
        };
    }

    private static Mono<Long> check(DeviceBuffer memory, long at, int bytes) {
        ByteBuffer read = ByteBuffer.allocateDirect(bytes);
        return memory.download(0, read).doOnNext(moved -> {
            for (int i = 0; i < bytes; i++) {
                if (read.get(i) != byteAt(at + i)) {
                    throw new IllegalStateException("byte " + (at + i) + " is wrong");
                }
            }
        });
    }

    private static void dispose(Object given) {
        if (given instanceof StorageFile file) {
            file.close();
        } else if (given instanceof DeviceBuffer buffer) {
            buffer.close();
        } else if (given instanceof DeviceFence fence) {
            fence.close();
        } else if (given instanceof HostLease lease) {
            lease.close();
        }
    }

    private static <T> T got(Mono<T> mono) {
        T given = mono.block(PATIENCE);
        if (given == null) {
            throw new IllegalStateException("nothing was opened");
        }
        return given;
    }
}
