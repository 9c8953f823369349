// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.paths.CufileProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Backends on the fakes, files of known content, and the ends of all of them. */
final class GpuFixture implements AutoCloseable {

    static final Duration LONG = Duration.ofSeconds(20);

    private final Path folder;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    GpuFixture(Path folder) {
        this.folder = folder;
    }

    static Options options(CufilePath path) {
        return Options.none()
                .with(CufileOptions.LIBCUDA, Fakes.libcuda().toString())
                .with(CufileOptions.LIBCUFILE, Fakes.libcufile().toString())
                .with(CufileOptions.PATH, path);
    }

    Backend backend(CufilePath path) {
        return backend(options(path));
    }

    Backend backend(Options options) {
        return keep(new CufileProvider().open(options.resolve(Backends.options())));
    }

    <C extends AutoCloseable> C keep(C resource) {
        open.push(resource);
        return resource;
    }

    static byte[] random(int bytes, long seed) {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        return content;
    }

    Path file(String name, byte[] content) {
        try {
            return Files.write(folder.resolve(name), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    StorageFile open(Backend backend, Path path, FileOption... options) {
        return keep(get(backend.openFile(path, options)));
    }

    StorageFile immutable(Backend backend, Path path) {
        return open(backend, path, FileOption.READ, FileOption.IMMUTABLE);
    }

    DeviceBuffer buffer(Backend backend, long bytes) {
        return keep(get(backend.allocate(bytes)));
    }

    static Completion move(Backend backend, Transfer transfer) {
        return get(backend.submit(transfer));
    }

    static byte[] content(DeviceBuffer buffer) {
        byte[] bytes = new byte[(int) buffer.length()];
        get(buffer.download(0, ByteBuffer.wrap(bytes)));
        return bytes;
    }

    static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(LONG));
    }

    /** Returns how often a file's mapping was to be registered; staging buffers are, too, and live as long as their backend. */
    static long registrations() {
        return Fakes.cuda().calls("cuMemHostRegister") - Fakes.cuda().live("host_buffers");
    }

    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    /** Moves other bytes several times, so that what could happen meanwhile has had its chance. */
    void letOthersRun(Backend backend) {
        Path path = file("others", new byte[65536]);
        try (StorageFile others = get(backend.openFile(path, FileOption.READ));
                DeviceBuffer target = get(backend.allocate(65536))) {
            for (int round = 0; round < 4; round++) {
                List<Mono<Completion>> reads = new ArrayList<>();
                for (long at = 0; at < 65536; at += 4096) {
                    reads.add(backend.submit(Transfer.read(others.region(at, 4096), target.region(at, 4096))));
                }
                Flux.merge(reads).then().block(LONG);
            }
        }
    }

    @Override
    public void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
