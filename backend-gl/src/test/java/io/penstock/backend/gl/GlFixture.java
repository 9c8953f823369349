// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.gl.fence.GlPoint;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.memory.GlStagingBuffer;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Backends, files of known content, and the ends of all of them. */
public final class GlFixture implements AutoCloseable {

    public static final Duration LONG = Duration.ofSeconds(20);

    private final Path folder;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final long memory = GlMemory.LIVE.get();
    private final long stagingBuffers = GlStagingBuffer.LIVE.get();
    private final long points = GlPoint.LIVE.get();

    GlFixture(Path folder) {
        GlSubject.require();
        this.folder = folder;
    }

    static Options options(GlPath path) {
        return Options.none().with(GlOptions.PATH, path);
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

    static byte[] filled(int bytes, int value) {
        byte[] content = new byte[bytes];
        Arrays.fill(content, (byte) value);
        return content;
    }

    Path file(String name, byte[] content) {
        try {
            return Files.write(folder.resolve(name), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    StorageFile open(Backend backend, String name, byte[] content) {
        return keep(get(backend.openFile(file(name, content), FileOption.READ)));
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

    /** Checks that a backend moves bytes both ways. */
    void assertWorks(Backend backend) {
        byte[] bytes = random(300_000, 7);
        StorageFile file = open(backend, "works", bytes);
        DeviceBuffer buffer = buffer(backend, bytes.length);
        assertThat(move(backend, Transfer.read(file.all(), buffer.all())).bytes())
                .isEqualTo(bytes.length);
        assertThat(content(buffer)).isEqualTo(bytes);
        Path copy = folder.resolve("copy");
        StorageFile out = keep(get(backend.openFile(copy, FileOption.WRITE, FileOption.CREATE)));
        move(backend, Transfer.write(buffer.all(), out.region(0, bytes.length)));
        assertThat(copy).hasBinaryContent(bytes);
    }

    static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(LONG));
    }

    public static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    /** Makes calls of the context's thread, so that what it could see has been seen. */
    void letOthersAllocate(Backend backend) {
        for (int round = 0; round < 4; round++) {
            get(backend.allocate(4096)).close();
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

    /** Closes everything, the last first, and looks for what was left. */
    @Override
    public void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        await(() -> GlMemory.LIVE.get() == memory
                && GlStagingBuffer.LIVE.get() == stagingBuffers
                && GlPoint.LIVE.get() == points);
        await(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("penstock-gl")));
    }
}
