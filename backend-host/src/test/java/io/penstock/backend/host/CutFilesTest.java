// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Files that another process cuts while they are streamed. */
class CutFilesTest {

    private static final int CHUNK = 10_000;

    @TempDir
    Path folder;

    static Stream<HostIo> variants() {
        return UnstatedLengthTest.variants();
    }

    private static Backend open(HostIo io) {
        return Backends.open("host", Options.none().with(HostOptions.IO, io));
    }

    private static void cut(Path path, long bytes) {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.truncate(bytes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** No more than two chunks are read by then. */
    @ParameterizedTest
    @MethodSource("variants")
    void aStreamOfTheFileFailsBehindWhatWasThere(HostIo io) throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[20 * CHUNK]);
        StreamPlan plan = StreamPlan.of(path).chunkBytes(CHUNK).depth(2);
        try (Backend backend = open(io)) {
            Flux<Long> lengths = backend.stream(plan, chunk -> {
                cut(path, CHUNK);
                return Mono.just(chunk.length());
            });
            StepVerifier.create(lengths)
                    .expectNext((long) CHUNK)
                    .thenConsumeWhile(length -> length == CHUNK)
                    .expectErrorSatisfies(error -> assertThat(error)
                            .isInstanceOf(PermanentStorageException.class)
                            .hasMessageStartingWith(
                                    "stream of " + path + " failed: the file became shorter while it was"
                                            + " read: it had 200000 bytes when it was opened, and ended at "))
                    .verify();
        }
    }

    @Test
    void soDoBytesAndLinesOnTheHeap() throws IOException {
        Path path = folder.resolve("file");
        try (Backend backend = Backends.open("host")) {
            Files.write(path, new byte[20 << 20]);
            StepVerifier.create(
                            backend.read(path).doOnNext(bytes -> cut(path, 0)).then())
                    .verifyError(PermanentStorageException.class);
            Files.writeString(path, "line\n".repeat(4 << 20));
            StepVerifier.create(
                            backend.lines(path).doOnNext(line -> cut(path, 0)).then())
                    .verifyError(PermanentStorageException.class);
        }
    }

    /** A region may reach beyond the end: it ends there. */
    @Test
    void aStreamOfRegionsEndsWithTheFile() throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[20 * CHUNK]);
        try (Backend backend = Backends.open("host");
                StorageFile file = backend.openFile(path).block()) {
            StreamPlan plan = StreamPlan.of(file.region(0, 20 * CHUNK), file.region(0, 1))
                    .chunkBytes(CHUNK)
                    .depth(2);
            Flux<Long> lengths = backend.stream(plan, chunk -> {
                cut(path, CHUNK);
                return Mono.just(chunk.length());
            });
            StepVerifier.create(lengths)
                    .expectNext((long) CHUNK)
                    .thenConsumeWhile(length -> length == CHUNK)
                    .expectNext(1L)
                    .verifyComplete();
        }
    }
}
