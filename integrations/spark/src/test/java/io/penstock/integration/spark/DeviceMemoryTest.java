// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.TaskCompletionListener;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/** Rows that name device memory of the executor that read them, and files that are written out of it. */
@Tag("once")
@ExtendWith(Cluster.class)
@Tag("slow")
class DeviceMemoryTest {

    private static final Encoder<Tuple2<String, Long>> NAMED = Encoders.tuple(Encoders.STRING(), Encoders.LONG());

    private static final Kernel kernel = new Kernel();

    /** Work on a device. */
    private static final class Kernel {
        void invert(BufferRegion region) {
            HostView view = region.buffer().hostView().orElseThrow();
            for (long i = region.offset(); i < region.offset() + region.length(); i++) {
                view.put(i, (byte) ~view.get(i));
            }
        }
    }

    @TempDir
    Path folder;

    private final SparkSession spark = SparkSession.active();

    private Map<String, byte[]> model(int arrays, int length) throws IOException {
        Map<String, byte[]> all = new LinkedHashMap<>();
        for (int i = 0; i < arrays; i++) {
            all.put("a" + i, Samples.bytes(i, length + i));
        }
        Samples.safetensors(folder.resolve("model.safetensors"), all);
        return all;
    }

    private Dataset<Row> load(String splitBytes) {
        return spark.read()
                .format("penstock")
                .option("deviceMemory", true)
                .option("splitBytes", splitBytes)
                .load(folder.toString());
    }

    private static HostView view(DeviceMemory memory) {
        return memory.region().buffer().hostView().orElseThrow();
    }

    private static long sum(BufferRegion region) {
        HostView view = region.buffer().hostView().orElseThrow();
        long sum = 0;
        for (long i = 0; i < region.length(); i++) {
            sum += view.get(region.offset() + i);
        }
        return sum;
    }

    private static long sum(byte[] bytes) {
        long sum = 0;
        for (byte value : bytes) {
            sum += value;
        }
        return sum;
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> found = Files.walk(directory)) {
            return found.filter(Files::isRegularFile).toList();
        }
    }

    private static MapFunction<Row, String> sums() {
        return row -> row.getString(0) + " "
                + sum(DeviceMemory.of(row.<Long>getAs("handle")).region());
    }

    /** More than the bytes in flight: the memory of a row is freed when the next is read. */
    @Test
    void rowsNameTheirBytesInDeviceMemory() throws IOException {
        Map<String, byte[]> arrays = model(6, 8 << 20);
        Samples.safetensors(folder.resolve("none.safetensors"), Map.of("none", new byte[0]));
        Samples.zarr(folder.resolve("scan.zarr"));
        List<String> expected = new ArrayList<>(List.of("none 0", "scan 36"));
        arrays.forEach((name, bytes) -> expected.add(name + " " + sum(bytes)));
        Dataset<Row> rows = load("1g");
        assertThat(rows.columns()).contains("handle", "length").doesNotContain("bytes");
        assertThat(rows.select("name", "handle").map(sums(), Encoders.STRING()).collectAsList())
                .containsExactlyInAnyOrderElementsOf(expected);
        Cluster.awaitNothingHeld(spark);
    }

    @Test
    void aRowOfMoreThanTheBytesInFlightIsRefused() throws IOException {
        model(1, 33 << 20);
        assertThatThrownBy(() -> load("1g").select("handle").collectAsList())
                .hasStackTraceContaining("a row in device memory must have at most 33554432 bytes, the value of"
                        + " spark.penstock.in-flight-bytes, had 34603008 bytes at")
                .hasStackTraceContaining("the option regionBytes cuts it into several rows");
    }

    @Test
    void aHandleOfARowBeforeTheLastIsRefused() throws IOException {
        model(3, 1000);
        MapPartitionsFunction<Row, Long> late = rows -> {
            List<Row> all = new ArrayList<>();
            rows.forEachRemaining(all::add);
            return List.of(sum(DeviceMemory.of(all.get(0).getLong(0)).region())).iterator();
        };
        assertThatThrownBy(() -> load("1g")
                        .select("handle")
                        .mapPartitions(late, Encoders.LONG())
                        .collectAsList())
                .hasStackTraceContaining("device memory of a row must be used before the task takes its next row");
        Cluster.awaitNothingHeld(spark);
    }

    /** Each partition leaves a row behind that is freed when the task ends. */
    @Test
    void aTaskThatWouldWaitForRowsThatItLeftBehindIsRefused() throws IOException {
        model(5, 8 << 20);
        MapPartitionsFunction<Row, Long> first =
                rows -> (rows.hasNext() ? List.of(rows.next().getLong(0)) : List.<Long>of()).iterator();
        Dataset<Long> rows =
                load("1").select("handle").mapPartitions(first, Encoders.LONG()).coalesce(1);
        assertThatThrownBy(rows::collectAsList)
                .hasStackTraceContaining("a task must have at most 33554432 bytes in flight, the value of"
                        + " spark.penstock.in-flight-bytes, had ");
        Cluster.awaitNothingHeld(spark);
    }

    /** Never a wrong address: what was read there may be anything by then. */
    @Test
    void aHandleOfAnotherTaskIsRefused() throws IOException {
        model(3, 1000);
        Dataset<Row> sorted = load("1k").select("name", "handle").orderBy("name");
        assertThatThrownBy(() -> sorted.map(sums(), Encoders.STRING()).collectAsList())
                .hasStackTraceContaining("device memory must be used by the task that read its row, before a shuffle, a"
                        + " cache or a collect; task ");
        long handle = sorted.collectAsList().get(0).getLong(1);
        assertThatThrownBy(() -> DeviceMemory.of(handle))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a handle of device memory must be used on the thread of a task, was used on ");
    }

    @Test
    void deviceMemoryIsWrittenToFiles() throws IOException {
        Map<String, byte[]> arrays = model(3, 100_000);
        arrays.put("none", new byte[0]);
        Samples.safetensors(folder.resolve("model.safetensors"), arrays);
        Path target = folder.resolve("out");
        Dataset<Tuple2<String, Long>> changed = load("1g")
                .select("name", "handle")
                .map(
                        (MapFunction<Row, Tuple2<String, Long>>) row -> {
                            DeviceMemory memory = DeviceMemory.of(row.getLong(1));
                            if (memory.region().length() > 0) {
                                view(memory).put(memory.region().offset(), (byte) 77);
                            }
                            return Tuple2.apply("sub/" + row.getString(0), row.getLong(1));
                        },
                        NAMED);
        changed.toDF("name", "handle").write().format("penstock").mode("append").save(target.toString());
        for (Map.Entry<String, byte[]> array : arrays.entrySet()) {
            byte[] expected = array.getValue().clone();
            if (expected.length > 0) {
                expected[0] = 77;
            }
            assertThat(target.resolve("sub/" + array.getKey())).hasBinaryContent(expected);
        }
        assertThat(files(target)).hasSize(4);
        Cluster.awaitNothingHeld(spark);
    }

    @Test
    void thePageHasThisExample() throws IOException {
        byte[] bytes = model(1, 1000).get("a0");
        String in = folder.toString();
        String out = folder.resolve("out").toString();
        Dataset<Row> arrays = spark.read()
                .format("penstock")
                .option("deviceMemory", true)
                .load(in)
                .select("name", "handle");
        MapFunction<Row, Row> invert = row -> {
            DeviceMemory memory = DeviceMemory.of(row.<Long>getAs("handle"));
            kernel.invert(memory.region());
            return row;
        };
        arrays.map(invert, Encoders.row(arrays.schema()))
                .write()
                .format("penstock")
                .mode("append")
                .save(out);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] ^= -1;
        }
        assertThat(folder.resolve("out/a0")).hasBinaryContent(bytes);
        String tests = "src/test/java/io/penstock/integration/spark/DeviceMemoryTest.java";
        String page = Files.readString(Path.of("../../docs/spark.md"));
        int start = page.indexOf("```java\n", page.indexOf("## Device memory in rows")) + "```java\n".length();
        String block = page.substring(start, page.indexOf("```", start));
        assertThat(Files.readString(Path.of(tests))).contains(block.indent(8));
    }

    @Test
    void memoryThatTheTaskHasAllocatedIsWrittenToFiles() throws IOException {
        Map<String, byte[]> arrays = model(3, 1000);
        Path target = folder.resolve("out");
        MapPartitionsFunction<Row, Tuple2<String, Long>> own = rows -> {
            List<DeviceBuffer> buffers = new ArrayList<>();
            TaskContext.get()
                    .addTaskCompletionListener((TaskCompletionListener) ended -> buffers.forEach(DeviceBuffer::close));
            return named(rows, row -> {
                DeviceMemory memory = DeviceMemory.of(row.getLong(1));
                if (buffers.isEmpty()) {
                    buffers.add(memory.backend().blocking().allocate(8));
                }
                HostView view = buffers.get(0).hostView().orElseThrow();
                view.put(4, view(memory).get(memory.region().offset()));
                return DeviceMemory.handleOf(buffers.get(0).region(4, 1));
            });
        };
        load("1g")
                .select("name", "handle")
                .mapPartitions(own, NAMED)
                .toDF("name", "handle")
                .write()
                .format("penstock")
                .mode("append")
                .save(target.toString());
        for (Map.Entry<String, byte[]> array : arrays.entrySet()) {
            assertThat(target.resolve(array.getKey())).hasBinaryContent(new byte[] {array.getValue()[0]});
        }
        Cluster.awaitNothingHeld(spark);
    }

    private static Iterator<Tuple2<String, Long>> named(Iterator<Row> rows, MapFunction<Row, Long> handle) {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return rows.hasNext();
            }

            @Override
            public Tuple2<String, Long> next() {
                Row row = rows.next();
                try {
                    return Tuple2.apply(row.getString(0), handle.call(row));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        };
    }

    /** The first attempt at the third array of a task fails, or dies with its executor. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void filesAreWrittenOnceWhenATaskFailsOrItsExecutorIsKilled(boolean killed) throws IOException {
        Map<String, byte[]> arrays = model(6, 100_000);
        String marker = folder.resolve("_failed").toString();
        Path target = folder.resolve("out");
        load("400k")
                .select("name", "handle")
                .map(
                        (MapFunction<Row, Tuple2<String, Long>>) row -> {
                            if (row.getString(0).equals("a2") && DeviceTasksTest.isFirst(marker)) {
                                if (killed) {
                                    DeviceTasksTest.kill();
                                }
                                throw new IllegalStateException("the first attempt");
                            }
                            return Tuple2.apply(row.getString(0), row.getLong(1));
                        },
                        NAMED)
                .toDF("name", "handle")
                .write()
                .format("penstock")
                .mode("append")
                .save(target.toString());
        assertThat(Path.of(marker)).exists();
        for (Map.Entry<String, byte[]> array : arrays.entrySet()) {
            assertThat(target.resolve(array.getKey())).hasBinaryContent(array.getValue());
        }
        assertThat(files(target)).hasSize(6);
        assertThat(target.resolve("_temporary")).doesNotExist();
        Cluster.awaitNothingHeld(spark);
    }

    @Test
    void aKilledTaskLeavesNothingPinned() throws Exception {
        model(2, 1_000_000);
        String started = folder.resolve("_started").toString();
        MapFunction<Row, Long> hangs = row -> {
            DeviceMemory.of(row.getLong(0));
            DeviceTasksTest.isFirst(started);
            new CountDownLatch(1).await();
            return 0L;
        };
        Dataset<Long> rows = load("1g").select("handle").map(hangs, Encoders.LONG());
        Cluster.cancelOnceStarted(spark, rows, Path.of(started), true);
        Cluster.awaitNothingHeld(spark);
    }
}
