// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
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

/** Backends, files of known content, buffers, and the ends of all of them. */
public class BackendFixture implements AutoCloseable {

    public static final Duration LONG = Duration.ofSeconds(30);

    private final Path folder;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    protected BackendFixture(Path folder) {
        this.folder = folder;
    }

    public <C extends AutoCloseable> C keep(C resource) {
        open.push(resource);
        return resource;
    }

    public static byte[] random(int bytes, long seed) {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        return content;
    }

    public Path file(String name, byte[] content) {
        try {
            return Files.write(folder.resolve(name), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public StorageFile open(Backend backend, Path path, FileOption... options) {
        return keep(get(backend.openFile(path, options)));
    }

    public DeviceBuffer buffer(Backend backend, long bytes) {
        return keep(get(backend.allocate(bytes)));
    }

    public static Completion move(Backend backend, Transfer transfer) {
        return get(backend.submit(transfer));
    }

    public static byte[] content(DeviceBuffer buffer) {
        byte[] bytes = new byte[(int) buffer.length()];
        get(buffer.download(0, ByteBuffer.wrap(bytes)));
        return bytes;
    }

    public static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(LONG));
    }

    public static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    /** Moves other bytes several times, so that what could happen meanwhile has had its chance. */
    public void letOthersRun(Backend backend) {
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

    /** Closes everything, the last first. */
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
