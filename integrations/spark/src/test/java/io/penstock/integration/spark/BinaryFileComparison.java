// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.BufferRegion;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import reactor.core.publisher.Mono;

/**
 * Measures this source against Spark's {@code binaryFile} on the same work: a checksum of each 4 MiB of files in the
 * page cache. Prints tables. Not a test: {@code tools/benchmarks/spark} runs it.
 */
public final class BinaryFileComparison {

    private static final int MIB = 1 << 20;
    private static final int CHUNK = 4 * MIB;
    private static final String BINARY = "Spark, binaryFile";
    private static final String ROWS = "Penstock, rows";
    private static final String DEVICE = "Penstock, device memory";
    private static final String HANDLES = "Penstock, rows of device memory";
    private static final String UDF =
            ", by a UDF"; // to which Spark passes the array as it is, if it is in no row of its own

    /**
     * What a piece of work found, of one partition or of all.
     *
     * @param sum of the checksums
     * @param heap the most bytes of heap that an executor has used since the job began
     */
    private record Found(long sum, long bytes, long heap) implements Serializable {

        static Found parse(String text) {
            long[] values =
                    Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
            return new Found(values[0], values[1], values[2]);
        }

        Found with(Found other) {
            return new Found(sum + other.sum, bytes + other.bytes, Math.max(heap, other.heap));
        }

        @Override
        public String toString() {
            return sum + " " + bytes + " " + heap;
        }
    }

    /** A job over the files of a directory. */
    private interface Job {
        Dataset<String> of(String directory);
    }

    private final SparkSession session;
    private final int executors;
    private final Map<String, Job> jobs = new LinkedHashMap<>();

    private BinaryFileComparison(SparkSession session, int executors) {
        this.session = session;
        this.executors = executors;
        MapPartitionsFunction<Row, String> checksums = BinaryFileComparison::checksums;
        UserDefinedFunction checksum = functions.udf(
                (UDF1<byte[], String>) bytes -> found(ByteBuffer.wrap(bytes)).toString(), DataTypes.StringType);
        jobs.put(BINARY, directory -> binary(directory).mapPartitions(checksums, Encoders.STRING()));
        jobs.put(ROWS, directory -> rows(directory, "bytes").mapPartitions(checksums, Encoders.STRING()));
        jobs.put(
                BINARY + UDF,
                directory -> binary(directory)
                        .select(checksum.apply(functions.col("content")))
                        .as(Encoders.STRING()));
        jobs.put(
                ROWS + UDF,
                directory -> rows(directory, "bytes")
                        .select(checksum.apply(functions.col("bytes")))
                        .as(Encoders.STRING()));
        MapFunction<Row, String> memory =
                row -> found(DeviceMemory.of(row.getLong(0)).region()).toString();
        jobs.put(HANDLES, directory -> rows(directory, "handle").map(memory, Encoders.STRING()));
        jobs.put(
                DEVICE,
                directory -> DeviceTasks.of(session.read()
                                .format("penstock")
                                .option("raw", true)
                                .load(directory))
                        .chunkBytes(CHUNK)
                        .mapPartitionsOnDevice(
                                (region, chunk, backend) -> Mono.fromCallable(() -> found(
                                                chunk.view().buffer(0, (int) chunk.length()))
                                        .toString()),
                                Encoders.STRING()));
    }

    private Dataset<Row> binary(String directory) {
        return session.read().format("binaryFile").load(directory).select("content");
    }

    private Dataset<Row> rows(String directory, String content) {
        return session.read()
                .format("penstock")
                .option("raw", true)
                .option("deviceMemory", content.equals("handle"))
                .load(directory)
                .select(content);
    }

    private static Found found(BufferRegion region) {
        return found(region.buffer().hostView().orElseThrow().buffer(region.offset(), (int) region.length()));
    }

    /** Arguments: a directory for the files, the number of files, the number of rounds, and the KiB of a file. */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        int files = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        int fileBytes = Integer.parseInt(arguments[3]) << 10;
        Path many = Files.createDirectories(directory.resolve("many"));
        byte[] content = Samples.bytes(1, fileBytes);
        for (int i = 0; i < files; i++) {
            content[0] = (byte) i;
            Files.write(many.resolve("file" + i), content);
        }
        Path large = Files.createDirectories(directory.resolve("large"));
        Samples.sparse(large.resolve("file"), "array", 3L << 30);
        for (int executors : new int[] {1, 2}) {
            SparkSession session = Cluster.start("local-cluster[" + executors + ",1,1024]", "256m");
            try {
                BinaryFileComparison comparison = new BinaryFileComparison(session, executors);
                comparison.compare(many.toString(), (long) files * fileBytes, rounds);
                comparison.large(large.toString());
            } finally {
                session.stop();
            }
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private void compare(String directory, long bytes, int rounds) {
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        Map<String, Long> heaps = new LinkedHashMap<>();
        long sum = run(jobs.get(BINARY), directory).sum;
        for (int round = -2; round < rounds; round++) { // two to warm up
            for (Map.Entry<String, Job> job : jobs.entrySet()) {
                resetPeaks();
                long start = System.nanoTime();
                Found found = run(job.getValue(), directory);
                double rate = bytes / (double) (System.nanoTime() - start);
                if (found.sum != sum || found.bytes != bytes) {
                    throw new IllegalStateException(job.getKey() + ": " + found + ", not " + sum + " of " + bytes);
                }
                if (round >= 0) {
                    rates.computeIfAbsent(job.getKey(), name -> new ArrayList<>())
                            .add(rate);
                    heaps.merge(job.getKey(), found.heap, Math::max);
                }
            }
        }
        for (Map.Entry<String, List<Double>> contender : rates.entrySet()) {
            List<Double> ratios = new ArrayList<>();
            List<Double> base = rates.get(contender.getKey().endsWith(UDF) ? BINARY + UDF : BINARY);
            for (int round = 0; round < rounds; round++) {
                ratios.add(contender.getValue().get(round) / base.get(round));
            }
            System.out.printf(
                    Locale.ROOT,
                    "| %d | %s | %s | %s | %d |%n",
                    executors,
                    contender.getKey(),
                    medianAndRange(contender.getValue()),
                    medianAndRange(ratios),
                    heaps.get(contender.getKey()) / MIB);
        }
    }

    /** A file of 3 GiB: the heap that its bytes take, or the reason why it is not read. */
    private void large(String directory) {
        for (Map.Entry<String, Job> job : jobs.entrySet()) {
            resetPeaks();
            try {
                Found found = run(job.getValue(), directory);
                System.out.printf(
                        "%d executors, %s, %d bytes in one file: %d MiB of heap%n",
                        executors, job.getKey(), found.bytes, found.heap / MIB);
            } catch (Exception e) { // Scala does not declare them
                Throwable cause = e;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                System.out.printf(
                        "%d executors, %s, a file of 3 GiB: %s%n",
                        executors,
                        job.getKey(),
                        cause.getMessage().lines().findFirst().orElse(""));
            }
        }
    }

    private static Found run(Job job, String directory) {
        return job.of(directory).collectAsList().stream().map(Found::parse).reduce(new Found(0, 0, 0), Found::with);
    }

    private static Iterator<String> checksums(Iterator<Row> rows) {
        Found all = new Found(0, 0, 0);
        while (rows.hasNext()) {
            all = all.with(found(ByteBuffer.wrap(rows.next().<byte[]>getAs(0))));
        }
        return List.of(all.toString()).iterator();
    }

    private static Found found(ByteBuffer bytes) {
        long length = bytes.remaining();
        long sum = 0;
        while (bytes.hasRemaining()) {
            ByteBuffer chunk = bytes.slice(bytes.position(), Math.min(CHUNK, bytes.remaining()));
            CRC32C checksum = new CRC32C();
            checksum.update(chunk);
            sum += checksum.getValue();
            bytes.position(bytes.position() + chunk.limit());
        }
        return new Found(sum, length, peak());
    }

    private static Stream<MemoryPoolMXBean> heap() {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP);
    }

    private static long peak() {
        return heap().mapToLong(pool -> pool.getPeakUsage().getUsed()).sum();
    }

    /** In each executor, after a collection, so that garbage of the job before does not count. */
    private void resetPeaks() {
        MapPartitionsFunction<Long, Long> reset = rows -> {
            System.gc();
            heap().forEach(MemoryPoolMXBean::resetPeakUsage);
            Thread.sleep(500); // so that the other executor gets a task too
            return rows;
        };
        session.range(0, executors, 1, executors)
                .mapPartitions(reset, Encoders.LONG())
                .count();
    }

    static String medianAndRange(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return String.format(
                Locale.ROOT,
                "%.2f (%.2f to %.2f)",
                sorted.get(sorted.size() / 2),
                sorted.get(0),
                sorted.get(sorted.size() - 1));
    }
}
