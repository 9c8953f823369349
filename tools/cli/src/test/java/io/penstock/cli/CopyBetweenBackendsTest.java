// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.SharedRead;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Copies between the buffers of backends of different vendors, of which none reaches the other's memory. */
class CopyBetweenBackendsTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int BYTES = 3_000_001; // several bounce buffers

    @TempDir
    Path folder;

    private static Backend open(String name) {
        Backends.list().stream()
                .filter(listing -> listing.name().equals(name))
                .forEach(listing ->
                        Require.backend(name.equals("opencl-ssg") ? "opencl" : name, listing.availability()));
        return Backends.open(name);
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(LIMIT));
    }

    private static byte[] content(DeviceBuffer buffer) {
        ByteBuffer bytes = ByteBuffer.allocate((int) buffer.length());
        get(buffer.download(0, bytes));
        return bytes.array();
    }

    @ParameterizedTest
    @CsvSource({"host, opencl-ssg", "opencl-ssg, host", "host, gl", "gl, host", "gl, opencl-ssg", "opencl-ssg, gl"})
    void aCopyGoesThroughHostMemory(String from, String to) {
        byte[] bytes = new byte[BYTES];
        new Random(6).nextBytes(bytes);
        try (Backend source = open(from);
                Backend target = open(to);
                DeviceBuffer there = get(source.allocate(BYTES));
                DeviceBuffer here = get(target.allocate(BYTES))) {
            get(there.upload(0, ByteBuffer.wrap(bytes)));
            Transfer copy = Transfer.copy(there.all(), here.all());
            // On a device in software, OpenGL's buffers are in host memory too.
            TransferPath path = target.explain(copy).path();
            assertThat(path).isIn(TransferPath.STAGED, TransferPath.HOST);
            assertThat(target.explain(copy).whyNotDirect())
                    .contains(path == TransferPath.HOST ? "are in host memory" : "does not reach");
            Completion end = get(target.submit(copy));
            assertThat(end.bytes()).isEqualTo(BYTES);
            assertThat(end.path()).isEqualTo(path);
            assertThat(content(here)).isEqualTo(bytes);
            assertThat(source.counters().inFlight() + target.counters().inFlight())
                    .isZero();
        }
    }

    @Test
    void oneReadFillsDevicesOfThreeVendors() throws IOException {
        byte[] bytes = new byte[BYTES];
        new Random(7).nextBytes(bytes);
        Path path = Files.write(folder.resolve("data"), bytes);
        try (Backend host = open("host");
                Backend opencl = open("opencl-ssg");
                Backend gl = open("gl")) {
            SharedRead shared = new SharedRead(100_000);
            List<byte[]> all = Flux.just(host, opencl, gl)
                    .flatMap(
                            backend -> backend.withBuffer(
                                    BYTES,
                                    buffer -> read(shared, backend, path, buffer)
                                            .then(Mono.fromCallable(() -> buffer)
                                                    .flatMap(CopyBetweenBackendsTest::download))),
                            3)
                    .collectList()
                    .block(LIMIT);
            assertThat(all).hasSize(3).allSatisfy(each -> assertThat(each).isEqualTo(bytes));
        }
    }

    private static Mono<Completion> read(SharedRead shared, Backend backend, Path path, DeviceBuffer buffer) {
        Mono<StorageFile> file = backend.openFile(path);
        return Mono.usingWhen(
                file,
                opened -> shared.join(backend, Transfer.read(opened.region(0, BYTES), buffer.all())),
                opened -> Mono.fromRunnable(opened::close));
    }

    private static Mono<byte[]> download(DeviceBuffer buffer) {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        return buffer.download(0, bytes).thenReturn(bytes.array());
    }
}
