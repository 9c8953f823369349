// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.host.blocking.BlockingBytes;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.tck.Pattern;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import reactor.core.publisher.Mono;

/**
 * Moves a file past the page cache to the card and from there to another file, over and over, and tells, line by line,
 * how much memory was pinned for that: a program for a JVM of its own.
 */
public final class MoveAndTell {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int ROUNDS = 10; // often enough for staging buffers in use to be registered
    private static final long BUFFER_BYTES = 1 << 20;

    private MoveAndTell() {}

    /** Moves the first argument to a file beside it. */
    public static void main(String[] args) throws IOException {
        Path from = Path.of(args[0]);
        Path to = Path.of(args[0] + ".copy");
        Options options = Options.none()
                .with(StagingOptions.BUFFER_BYTES, BUFFER_BYTES)
                .with(StagingOptions.BUFFERS_PER_WORKER, 1)
                .resolve(Backends.options());
        tellPinned("before");
        try (Backend backend = new CardProvider.Many().open(options)) {
            System.out.println("moved: " + move(backend, from, to) + " bytes");
            tellPinned("meanwhile");
        }
        tellPinned("after");
        if (Files.mismatch(from, to) >= 0) {
            throw new IllegalStateException("wrong bytes in the file at " + Files.mismatch(from, to));
        }
        System.out.println(BlockingBytes.INSTANCE.bufferFact());
    }

    private static long move(Backend backend, Path from, Path to) throws IOException {
        int size = Math.toIntExact(Files.size(from));
        ByteBuffer bytes = ByteBuffer.allocateDirect(size);
        long moved = 0;
        try (StorageFile source = get(backend.openFile(from, FileOption.READ, FileOption.DIRECT));
                StorageFile target = get(backend.openFile(to, FileOption.WRITE, FileOption.CREATE, FileOption.DIRECT));
                DeviceBuffer buffer = get(backend.allocate(size))) {
            for (int i = 0; i < ROUNDS; i++) {
                moved += get(backend.submit(Transfer.read(source.all(), buffer.all())))
                        .bytes();
                get(buffer.download(0, bytes.clear()));
                if (Pattern.of(from).difference(bytes, 0) >= 0) {
                    throw new IllegalStateException("wrong bytes on the card");
                }
                moved += get(backend.submit(Transfer.write(buffer.all(), target.region(0, size))))
                        .bytes();
            }
        }
        return moved;
    }

    private static void tellPinned(String when) throws IOException {
        Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmPin"))
                .forEach(line -> System.out.println(when + ": " + line));
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(PATIENCE));
    }
}
