// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Chunk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Chunks on the executors' devices, tasks that are killed, and executors that die. */
@Tag("once")
@ExtendWith(Cluster.class)
@Tag("slow")
class DeviceTasksTest {

    @TempDir
    Path folder;

    private final SparkSession session = SparkSession.active();

    /** Writes arrays and returns the sum of the bytes of each. */
    private Map<String, Long> model(int arrays, int length) throws IOException {
        Map<String, byte[]> all = new LinkedHashMap<>();
        Map<String, Long> sums = new LinkedHashMap<>();
        for (int i = 0; i < arrays; i++) {
            byte[] bytes = Samples.bytes(i, length + i);
            all.put("a" + i, bytes);
            long sum = 0;
            for (byte value : bytes) {
                sum += value;
            }
            sums.put("a" + i, sum);
        }
        Samples.safetensors(folder.resolve("model.safetensors"), all);
        return sums;
    }

    private Dataset<Row> arrays(String splitBytes) {
        return session.read()
                .format("penstock")
                .option("splitBytes", splitBytes)
                .load(folder.toString());
    }

    /** Returns what the gauge of the executors adds up to, in nanoseconds. */
    private long functions() {
        MapPartitionsFunction<Long, String> read = ignored -> {
            try (ExecutorBackend.Lease lease = ExecutorBackend.lease()) {
                return List.of(SparkEnv.get().executorId() + " "
                                + lease.functions().sum())
                        .iterator();
            }
        };
        List<String> all = session.range(0, 8, 1, 8)
                .as(Encoders.LONG())
                .mapPartitions(read, Encoders.STRING())
                .collectAsList();
        return all.stream()
                .distinct()
                .mapToLong(text -> Long.parseLong(text.split(" ")[1]))
                .sum();
    }

    @Test
    void theTimeOfFunctionsIsMeasured() throws IOException {
        model(2, 1000);
        String probe = folder.resolve("_probe").toString();
        List<Long> times = DeviceTasks.of(arrays("1g"))
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> {
                            long started = System.nanoTime();
                            return Mono.fromCallable(() -> {
                                isFirst(probe + chunk.index()); // some work
                                return System.nanoTime() - started;
                            });
                        },
                        Encoders.LONG())
                .collectAsList();
        assertThat(times).hasSize(2);
        long sum = times.stream().mapToLong(Long::longValue).sum();
        while (functions() < sum) {
            Thread.onSpinWait(); // a count may follow its row; the test's own limit of time ends this
        }
    }

    private static String sum(Region region, Chunk chunk) {
        long sum = 0;
        for (long i = 0; i < chunk.length(); i++) {
            sum += chunk.view().get(i);
        }
        return region.name() + " " + sum;
    }

    private static Map<String, Long> add(List<String> parts) {
        Map<String, Long> sums = new LinkedHashMap<>();
        parts.forEach(part -> sums.merge(part.split(" ")[0], Long.valueOf(part.split(" ")[1]), Long::sum));
        return sums;
    }

    @Test
    void chunksOfEachRegionComeInOrderWithTheirRegion() throws IOException {
        Map<String, Long> sums = model(5, 100_000);
        List<String> parts = DeviceTasks.of(arrays("250k"))
                .chunkBytes(30_000)
                .depth(2)
                .mapPartitionsOnDevice((region, chunk, backend) -> Mono.just(sum(region, chunk)), Encoders.STRING())
                .collectAsList();
        assertThat(parts).hasSize(5 * 4);
        assertThat(add(parts)).isEqualTo(sums);
    }

    @Test
    void theJobEndsRightWhenAnExecutorIsKilledInMidStream() throws IOException {
        Map<String, Long> sums = model(8, 400_000);
        String marker = folder.resolve("killed").toString();
        List<String> parts = DeviceTasks.of(arrays("1m").where("length > 0"))
                .chunkBytes(100_000)
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> {
                            if (chunk.index() == 2 && isFirst(marker)) {
                                kill();
                            }
                            return Mono.just(sum(region, chunk));
                        },
                        Encoders.STRING())
                .collectAsList();
        assertThat(Path.of(marker)).exists();
        assertThat(add(parts)).isEqualTo(sums);
    }

    static boolean isFirst(String marker) {
        try {
            Files.createFile(Path.of(marker));
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void kill() {
        try {
            new ProcessBuilder(
                            "kill", "-9", String.valueOf(ProcessHandle.current().pid()))
                    .start()
                    .waitFor();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Spark interrupts the thread of a task, or leaves it to the task to look. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aKilledTaskLeavesNothingPinned(boolean interrupted) throws Exception {
        model(1, 1_000_000);
        String started = folder.resolve("started").toString();
        Dataset<String> rows = DeviceTasks.of(arrays("1g"))
                .chunkBytes(100_000)
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> {
                            isFirst(started);
                            return Mono.never();
                        },
                        Encoders.STRING());
        Cluster.cancelOnceStarted(session, rows, Path.of(started), interrupted);
        Cluster.awaitNothingHeld(session);
    }

    @Test
    void whatTheFunctionThrowsFailsTheJob() throws IOException {
        model(1, 10);
        Dataset<String> rows = DeviceTasks.of(arrays("1g"))
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> {
                            throw new IllegalStateException("kernel of " + region.name());
                        },
                        Encoders.STRING());
        assertThatThrownBy(rows::collectAsList).hasStackTraceContaining("kernel of a0");
    }

    /** Reactor does not signal these. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aKernelThatCannotBeLoadedFailsTheJob(boolean atOnce) throws IOException {
        model(1, 10);
        Dataset<String> rows = DeviceTasks.of(arrays("1g"))
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> atOnce ? load() : Mono.defer(DeviceTasksTest::load),
                        Encoders.STRING());
        assertThatThrownBy(rows::collectAsList).hasStackTraceContaining("no kernel in java.library.path");
        Cluster.awaitNothingHeld(session);
    }

    private static Mono<String> load() {
        throw new UnsatisfiedLinkError("no kernel in java.library.path");
    }

    @Test
    void chunksOfMoreThanTheBudgetAreRefused() throws IOException {
        model(1, 9 << 20);
        Dataset<String> rows = DeviceTasks.of(arrays("1g"))
                .chunkBytes(9 << 20)
                .mapPartitionsOnDevice((region, chunk, backend) -> Mono.empty(), Encoders.STRING());
        assertThatThrownBy(rows::collectAsList)
                .hasStackTraceContaining("chunks of a task must have at most 33554432 bytes together, the value of"
                        + " spark.penstock.in-flight-bytes, had 37748736");
    }

    @Test
    void anArrayInChunksIsRefused() throws IOException {
        Samples.zarr(folder.resolve("scan.zarr"));
        Dataset<String> rows = DeviceTasks.of(arrays("1g"))
                .mapPartitionsOnDevice((region, chunk, backend) -> Mono.empty(), Encoders.STRING());
        assertThatThrownBy(rows::collectAsList).hasStackTraceContaining("select its column bytes: 8 bytes of ");
    }

    /** Both where a chunk ends, and where a region does. */
    @ParameterizedTest
    @ValueSource(ints = {1, 10_001, 50_000, 100_001, 200_001})
    void aFileThatBecameShorterFailsTheJob(int lessBytes) throws IOException {
        model(2, 100_000); // the second has a byte more
        Path file = folder.resolve("model.safetensors");
        Dataset<String> rows = DeviceTasks.of(arrays("1g"))
                .chunkBytes(10_000)
                .mapPartitionsOnDevice((region, chunk, backend) -> Mono.just(sum(region, chunk)), Encoders.STRING());
        assertThat(rows.collectAsList()).hasSize(10 + 11);
        byte[] all = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(all, all.length - lessBytes));
        assertThatThrownBy(rows::collectAsList)
                .hasStackTraceContaining("the file became shorter than when the query was planned");
    }
}
