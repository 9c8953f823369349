// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.TransferPath;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class BenchmarkTest {

    private static final int BLOCK = 64 << 10;
    private static final int BLOCKS = 16;
    private static final long SHORT_NANOS = 20_000_000;

    @TempDir
    Path folder;

    private final Backend backend = Backends.open("host");
    private Path file;

    @BeforeEach
    void writeFile() throws IOException {
        file = folder.resolve("file");
        byte[] bytes = new byte[BLOCK * BLOCKS];
        new Random(1).nextBytes(bytes);
        Files.write(file, bytes);
    }

    @AfterEach
    void closeBackend() {
        backend.close();
    }

    private Workload work(AccessPattern pattern, int depth) {
        return new Workload(file, pattern, BLOCK, depth, BLOCK * BLOCKS, false, null);
    }

    private static Figures run(Benchmark benchmark) throws Exception {
        return benchmark.run(SHORT_NANOS, (bytes, nanos) -> {});
    }

    @Test
    void everyPatternMovesWholeBlocksThatVerify() throws Exception {
        for (AccessPattern pattern : AccessPattern.values()) {
            try (Benchmark benchmark = Benchmark.open(work(pattern, 4), List.of(backend))) {
                Figures figures = run(benchmark);
                assertThat(figures.operations()).as("%s", pattern).isPositive();
                assertThat(figures.bytes()).isEqualTo(figures.operations() * BLOCK);
                assertThat(figures.nanos()).isGreaterThanOrEqualTo(SHORT_NANOS);
                assertThat(figures.paths()).containsExactly(TransferPath.HOST);
                assertThat(figures.latencies().getMaxValue()).isPositive().isLessThan(figures.nanos());
                assertThat(benchmark.verify()).as("%s", pattern).isPositive();
            }
            assertThat(file).hasSize(BLOCK * BLOCKS);
        }
    }

    @Test
    void aSecondRunStartsItsFiguresAnew() throws Exception {
        try (Benchmark benchmark = Benchmark.open(work(AccessPattern.READ, 2), List.of(backend))) {
            Figures first = run(benchmark);
            long operations = first.operations();
            run(benchmark);
            assertThat(first.operations()).isEqualTo(operations);
        }
    }

    @Test
    void aRunThatEndsBeforeItsFirstTransferHasOne() throws Exception {
        Sinks.Empty<Void> gate = Sinks.empty();
        try (Job job = new Job(behind(gate.asMono()), work(AccessPattern.READ, 2))) {
            job.start();
            job.end();
            gate.tryEmitEmpty();
            assertThat(job.await(Long.MAX_VALUE)).isTrue();
            assertThat(job.latencies().getTotalCount()).isEqualTo(1);
            assertThat(job.lastCompletion().bytes()).isEqualTo(BLOCK);
            assertThat(job.paths()).containsExactly(TransferPath.HOST);
        }
    }

    /** Returns the backend, to whose completions nobody is subscribed before the gate completes. */
    private Backend behind(Mono<Void> gate) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            Object result = method.invoke(backend, arguments);
            return result instanceof Flux<?> completions ? completions.delaySubscription(gate) : result;
        };
        return (Backend) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Backend.class}, handler);
    }

    @Test
    void aBlockThatIsNotInTheFileAsItWasWrittenIsFound() throws Exception {
        for (AccessPattern pattern : AccessPattern.values()) {
            try (Benchmark benchmark = Benchmark.open(work(pattern, 4), List.of(backend))) {
                run(benchmark);
                changeTheLastByteOfEachBlock();
                assertThatIOException()
                        .as("%s", pattern)
                        .isThrownBy(benchmark::verify)
                        .withMessageContaining("differs");
            }
        }
    }

    @Test
    void aBlockThatNoSlotOfThisRunHasWrittenIsFound() throws Exception {
        try (Benchmark benchmark = Benchmark.open(work(AccessPattern.WRITE, 4), List.of(backend))) {
            run(benchmark);
            writeFile();
            assertThatIOException().isThrownBy(benchmark::verify).withMessageContaining("is not what was written");
        }
    }

    @Test
    void aBlockThatSlotsHaveWrittenAtTheSameTimeInSegmentsVerifies() throws Exception {
        try (Benchmark benchmark = Benchmark.open(work(AccessPattern.WRITE, 4), List.of(backend))) {
            run(benchmark);
            byte[] mixed = mixed(1000, 4001);
            writeEachBlock(mixed);
            assertThat(benchmark.verify()).isEqualTo(4);
            mixed[3000] ^= 1;
            writeEachBlock(mixed);
            assertThatIOException().isThrownBy(benchmark::verify).withMessageContaining("differs");
        }
    }

    /** As where a page begins there. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, BLOCK - 7, BLOCK - 1})
    void aBlockWhoseWritersMeetNearItsStartOrEndVerifies(int place) throws Exception {
        try (Benchmark benchmark = Benchmark.open(work(AccessPattern.WRITE, 4), List.of(backend))) {
            run(benchmark);
            writeEachBlock(mixed(place, BLOCK));
            assertThat(benchmark.verify()).isEqualTo(4);
        }
    }

    /** Returns a block that one slot has written, with the bytes of another in a range. */
    private byte[] mixed(int from, int to) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int other = BLOCK;
        while (bytes[other] == bytes[0]) { // of the same slot
            other += BLOCK;
        }
        byte[] mixed = Arrays.copyOfRange(bytes, 0, BLOCK);
        System.arraycopy(bytes, other + from, mixed, from, to - from);
        return mixed;
    }

    private void writeEachBlock(byte[] block) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(BLOCK * BLOCKS);
        while (all.hasRemaining()) {
            all.put(block);
        }
        Files.write(file, all.array());
    }

    @Test
    void slotsOfAFewBytesAreToldApart() throws Exception {
        int slots = 300; // more than a byte has values
        for (int bytes = 1; bytes < 2 * Long.BYTES; bytes++) {
            Workload small = new Workload(file, AccessPattern.WRITE, bytes, slots, 1000L * bytes, false, null);
            try (Benchmark benchmark = Benchmark.open(small, List.of(backend))) {
                run(benchmark);
                assertThat(benchmark.verify()).as("blocks of %d bytes", bytes).isEqualTo(slots);
            }
        }
    }

    private void changeTheLastByteOfEachBlock() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (long end = BLOCK; end <= (long) BLOCK * BLOCKS; end += BLOCK) {
                ByteBuffer last = ByteBuffer.allocate(1);
                channel.read(last, end - 1);
                channel.write(ByteBuffer.wrap(new byte[] {(byte) ~last.get(0)}), end - 1);
            }
        }
    }

    @Test
    void aFileThatIsTruncatedMeanwhileEndsTheRunWithAnError() throws Exception {
        try (Benchmark benchmark = Benchmark.open(work(AccessPattern.RANDREAD, 4), List.of(backend))) {
            assertThatIOException()
                    .isThrownBy(() -> benchmark.run(Long.MAX_VALUE / 2, (bytes, nanos) -> truncate()))
                    .withMessageContainingAll(file.toString(), "truncated");
        }
    }

    private void truncate() {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.setLength(BLOCK / 2);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aPathThatWouldNotBeTakenIsRefusedWithTheReason() {
        Workload direct = new Workload(file, AccessPattern.READ, BLOCK, 1, BLOCK, false, TransferPath.DIRECT);
        assertThatIOException()
                .isThrownBy(() -> Benchmark.open(direct, List.of(backend)).close())
                .withMessageContaining("would use path HOST, not DIRECT");
    }

    @Test
    void aFileThatWasJustWrittenIsInThePageCache() {
        PageCache.share(file, BLOCK * BLOCKS)
                .ifPresent(share -> assertThat(share).isEqualTo(1));
        assertThat(PageCache.share(folder.resolve("absent"), BLOCK)).isEmpty();
    }
}
