// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Backend;
import io.penstock.Chunk;
import io.penstock.DeviceBuffer;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import reactor.core.publisher.Mono;

/**
 * Measures how fast executors, one for each GPU, bring files of the page cache into the memory of their GPUs, against
 * Spark's {@code binaryFile} and a copy. A kernel sums the words of each file where they lie, and the sum is checked.
 * Then an executor is killed in mid-stream. Prints a table. Not a test: {@code .ci/gpu run spark} runs it.
 */
public final class GpuComparison {

    private static final int FILE = 64 << 20;
    private static final int CHUNK = 4 << 20;
    private static final int CORES = 4; // of each executor

    /** A job over the files of a directory: the name of each file, and the sum of its words in the GPU's memory. */
    private interface Job {
        Dataset<String> of(String directory);
    }

    private final SparkSession session;
    private final Map<String, Long> expected = new LinkedHashMap<>(); // sums by file
    private final Map<String, Job> jobs = new LinkedHashMap<>();

    private GpuComparison(SparkSession session) {
        this.session = session;
        MapPartitionsFunction<Row, String> copied = GpuComparison::copied;
        jobs.put(
                "Spark, binaryFile, and a copy",
                directory -> session.read()
                        .format("binaryFile")
                        .load(directory)
                        .select("path", "content")
                        .mapPartitions(copied, Encoders.STRING()));
        MapFunction<Row, String> sums = row -> found(
                row.getString(0), GpuSum.of(DeviceMemory.of(row.getLong(1)).region(), 0));
        jobs.put(
                "Penstock, rows of device memory",
                directory -> regions(directory, true).select("path", "handle").map(sums, Encoders.STRING()));
        jobs.put("Penstock, device memory", directory -> tasks(directory, chunk -> {}));
    }

    /** Before its chunk is summed. */
    private interface Before extends Serializable {
        void run(Chunk chunk);
    }

    private Dataset<String> tasks(String directory, Before before) {
        return DeviceTasks.of(regions(directory, false))
                .chunkBytes(CHUNK)
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> Mono.fromCallable(() -> {
                            before.run(chunk);
                            return found(
                                    region.path(), GpuSum.of(chunk.region(), chunk.index() * (CHUNK / Long.BYTES)));
                        }),
                        Encoders.STRING());
    }

    private Dataset<Row> regions(String directory, boolean deviceMemory) {
        return session.read()
                .format("penstock")
                .option("raw", true)
                .option("deviceMemory", deviceMemory)
                .load(directory);
    }

    private static String found(String path, long sum) {
        return path.substring(path.lastIndexOf('/') + 1) + " " + sum;
    }

    /** As a job does without this source: through the heap, into memory of the GPU that the task keeps. */
    private static Iterator<String> copied(Iterator<Row> rows) {
        List<String> sums = new ArrayList<>();
        try (ExecutorBackend.Lease lease = ExecutorBackend.lease()) {
            Backend backend = lease.device();
            try (DeviceBuffer buffer = backend.blocking().allocate(FILE)) {
                while (rows.hasNext()) {
                    Row row = rows.next();
                    ByteBuffer bytes = ByteBuffer.wrap(row.<byte[]>getAs(1));
                    buffer.upload(0, bytes).block();
                    sums.add(found(row.getString(0), GpuSum.of(buffer.region(0, bytes.remaining()), 0)));
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return sums.iterator();
    }

    /**
     * Arguments: a directory for the files, the numbers of GPUs, files and rounds, a script that names the GPUs, and
     * the backend.
     */
    public static void main(String[] arguments) throws IOException {
        Path directory = Files.createDirectories(Path.of(arguments[0]));
        int gpus = Integer.parseInt(arguments[1]);
        int files = Integer.parseInt(arguments[2]);
        int rounds = Integer.parseInt(arguments[3]);
        Map<String, String> settings = Map.of(
                "spark.executor.heartbeatInterval", // a short run has some, too
                "2s",
                "spark.penstock.backend",
                arguments[5],
                "spark.penstock.in-flight-bytes",
                "1g",
                "spark.executor.cores",
                Integer.toString(CORES),
                "spark.executor.memory",
                "4g",
                "spark.worker.resource.gpu.amount",
                Integer.toString(gpus),
                "spark.worker.resource.gpu.discoveryScript",
                arguments[4],
                "spark.executor.resource.gpu.amount",
                "1",
                "spark.task.resource.gpu.amount",
                Double.toString(1.0 / CORES));
        String master = "local-cluster[1," + gpus * CORES + "," + gpus * 4096 + "]";
        SparkSession session = Cluster.start(master, settings);
        try {
            GpuComparison comparison = new GpuComparison(session);
            comparison.write(directory, files);
            comparison.compare(directory.toString(), gpus, rounds);
            comparison.kill(directory);
        } finally {
            session.stop();
        }
    }

    private void write(Path directory, int files) throws IOException {
        byte[] content = Samples.bytes(1, FILE);
        for (int i = 0; i < files; i++) {
            content[0] = (byte) i;
            Files.write(directory.resolve("file" + i), content);
            expected.put("file" + i, GpuSum.of(ByteBuffer.wrap(content), 0));
        }
    }

    private void compare(String directory, int gpus, int rounds) {
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        for (int round = -2; round < rounds; round++) { // two to warm up
            for (Map.Entry<String, Job> job : jobs.entrySet()) {
                long start = System.nanoTime();
                check(job.getKey(), job.getValue().of(directory).collectAsList());
                double rate = (double) expected.size() * FILE / (System.nanoTime() - start);
                if (round >= 0) {
                    rates.computeIfAbsent(job.getKey(), name -> new ArrayList<>())
                            .add(rate);
                }
            }
        }
        List<Double> base = rates.values().iterator().next();
        rates.forEach((name, its) -> {
            List<Double> ratios = new ArrayList<>();
            for (int round = 0; round < its.size(); round++) {
                ratios.add(its.get(round) / base.get(round));
            }
            System.out.printf(
                    Locale.ROOT,
                    "| %d | %s | %s | %s |%n",
                    gpus,
                    name,
                    BinaryFileComparison.medianAndRange(its),
                    BinaryFileComparison.medianAndRange(ratios));
        });
    }

    private void check(String job, List<String> found) {
        Map<String, Long> sums = new LinkedHashMap<>();
        found.forEach(part -> sums.merge(part.split(" ")[0], Long.parseLong(part.split(" ")[1]), Long::sum));
        if (!sums.equals(expected)) {
            throw new IllegalStateException(job + " found " + sums + ", not " + expected);
        }
    }

    /** The job ends right, and its successor finds memory. */
    private void kill(Path directory) {
        String marker = directory.resolve("_killed").toString();
        Dataset<String> killed = tasks(directory.toString(), chunk -> {
            if (chunk.index() == 2 && DeviceTasksTest.isFirst(marker)) {
                DeviceTasksTest.kill();
            }
        });
        check("a job whose executor is killed", killed.collectAsList());
        if (!Files.exists(Path.of(marker))) {
            throw new IllegalStateException("no executor was killed");
        }
        System.out.println("an executor was killed in mid-stream: the job ended right");
    }
}
