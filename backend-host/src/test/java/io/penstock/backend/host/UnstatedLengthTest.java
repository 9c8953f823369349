// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Chunk;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** Regular files of {@code /proc}, which state a length of 0 and have bytes, and of {@code /sys}, which state a page. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnstatedLengthTest {

    private static final Path FILE = Path.of("/proc/version"); // always the same
    private static final Path PAGE = Path.of("/sys/kernel/fscaps"); // states 4096 bytes, and has two
    private static final Path LONG = Path.of("/proc/cpuinfo"); // longer than what the kernel gives at once

    @BeforeEach
    void aSystemThatHasSuchFiles() throws IOException {
        assumeTrue(Files.isRegularFile(FILE) && Files.size(FILE) == 0, "no /proc here");
    }

    static Stream<HostIo> variants() {
        return HostPath.probe(Options.none().with(HostOptions.IO, HostIo.URING)).available()
                ? Stream.of(HostIo.POOL, HostIo.URING)
                : Stream.of(HostIo.POOL);
    }

    private static Backend open(HostIo io) {
        return Backends.open("host", Options.none().with(HostOptions.IO, io));
    }

    private static byte[] streamed(Backend backend, StreamPlan plan) {
        List<byte[]> chunks = backend.stream(plan, chunk -> Mono.just(bytes(chunk)))
                .collectList()
                .block();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        chunks.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private static byte[] bytes(Chunk chunk) {
        byte[] bytes = new byte[(int) chunk.length()];
        chunk.view().read(0, ByteBuffer.wrap(bytes));
        return bytes;
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aStreamOfThePathReadsItToItsEnd(HostIo io) throws IOException {
        byte[] expected = Files.readAllBytes(FILE);
        try (Backend backend = open(io)) {
            assertThat(streamed(backend, StreamPlan.of(FILE))).isEqualTo(expected);
            assertThat(streamed(backend, StreamPlan.of(FILE).chunkBytes(7).depth(3)))
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aFileOfManyPagesIsReadToItsEnd(HostIo io) throws IOException {
        try (Backend backend = open(io)) {
            byte[] got = streamed(backend, StreamPlan.of(LONG).chunkBytes(1000));
            byte[] expected = Files.readAllBytes(LONG); // with clock rates, which change
            assertThat(got)
                    .hasSize(expected.length)
                    .startsWith("processor".getBytes(StandardCharsets.US_ASCII))
                    .endsWith('\n');
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aFileThatStatesAPageIsReadToItsEnd(HostIo io) throws IOException {
        assumeTrue(Files.isRegularFile(PAGE), "no such file in /sys");
        try (Backend backend = open(io)) {
            assertThat(streamed(backend, StreamPlan.of(PAGE))).isEqualTo(Files.readAllBytes(PAGE));
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aReadOfALongerRegionIsShort(HostIo io) throws IOException {
        byte[] expected = Files.readAllBytes(FILE);
        try (Backend backend = open(io);
                StorageFile file = backend.openFile(FILE, FileOption.READ).block();
                DeviceBuffer buffer = backend.allocate(1 << 20).block()) {
            assertThat(file.size()).isZero();
            assertThat(file.all().length()).isZero();
            Completion read = backend.submit(Transfer.read(file.region(0, 1 << 20), buffer.all()))
                    .block();
            assertThat(read.bytes()).isEqualTo(expected.length);
            ByteBuffer got = ByteBuffer.allocate(expected.length);
            assertThat(buffer.download(0, got).block()).isEqualTo(expected.length);
            assertThat(got.array()).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("variants")
    void aFileThatIsEmptyHasNoChunk(HostIo io) throws IOException {
        Path empty = Files.createTempFile("empty", null);
        try (Backend backend = open(io)) {
            assertThat(streamed(backend, StreamPlan.of(empty).chunkBytes(Long.MAX_VALUE)))
                    .isEmpty();
        } finally {
            Files.delete(empty);
        }
    }
}
