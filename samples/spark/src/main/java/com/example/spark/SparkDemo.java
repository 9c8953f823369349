// SPDX-License-Identifier: Apache-2.0
package com.example.spark;

import io.penstock.Backend;
import io.penstock.Chunk;
import io.penstock.integration.spark.DeviceTasks;
import io.penstock.integration.spark.PenstockPlugin;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.api.java.function.ReduceFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import reactor.core.publisher.Mono;
import scala.Tuple2;

/**
 * Projections and histograms of a folder of scans, and statistics of the tensors of a sharded model, computed where the
 * executors have read them: {@code ./penstock spark-demo [--master URL] [--scans FOLDER] [--model FOLDER] [--out
 * FOLDER]}.
 */
public final class SparkDemo {

    private static final String LOCAL = "local-cluster[2,2,1024]";
    private static final int CHUNK = 1 << 20;

    private SparkDemo() {}

    public static void main(String[] arguments) throws IOException {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            if (i + 1 == arguments.length
                    || !List.of("--master", "--scans", "--model", "--out").contains(arguments[i])) {
                System.err.println(
                        "usage: penstock spark-demo [--master URL] [--scans FOLDER] [--model FOLDER] [--out FOLDER]");
                System.exit(2);
            }
            options.put(arguments[i], arguments[i + 1]);
        }
        Path out = Files.createDirectories(
                Path.of(options.getOrDefault("--out", "spark-demo")).toAbsolutePath());
        Path scans = options.containsKey("--scans")
                ? Path.of(options.get("--scans"))
                : SampleData.scans(out.resolve("scans"), 4);
        Path model = options.containsKey("--model")
                ? Path.of(options.get("--model"))
                : SampleData.model(out.resolve("model"), 3);
        try (SparkSession spark = session(options.getOrDefault("--master", LOCAL))) {
            for (Projection projection : project(spark, scans)) {
                System.out.println(projection.name() + "  " + bars(projection.counts) + "  " + draw(projection, out));
            }
            System.out.printf(
                    "%-24s %12s %12s %12s %12s %12s%n", "tensor", "elements", "least", "greatest", "mean", "deviation");
            for (Statistics tensor : describe(spark, model)) {
                System.out.printf(
                        "%-24s %12d %12.4f %12.4f %12.6f %12.6f%n",
                        tensor.name(),
                        tensor.count(),
                        tensor.least(),
                        tensor.greatest(),
                        tensor.mean(),
                        tensor.deviation());
            }
        }
    }

    static List<Projection> project(SparkSession spark, Path scans) {
        Dataset<Row> volumes = spark.read()
                .format("penstock")
                .load(scans.toAbsolutePath().toString())
                .where("dtype in ('U8', 'I16', 'U16') and order = 'ROW_MAJOR'");
        return DeviceTasks.of(volumes)
                .chunkBytes(CHUNK)
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> Projection.isVolume(region)
                                ? bytes(chunk, backend)
                                        .map(bytes ->
                                                Projection.of(region, chunk.fileOffset() - region.offset(), bytes))
                                : Mono.empty(),
                        Encoders.javaSerialization(Projection.class))
                .groupByKey((MapFunction<Projection, String>) Projection::name, Encoders.STRING())
                .reduceGroups((ReduceFunction<Projection>) Projection::and)
                .collectAsList()
                .stream()
                .map(Tuple2::_2)
                .sorted(Comparator.comparing(Projection::name))
                .toList();
    }

    static List<Statistics> describe(SparkSession spark, Path model) {
        Dataset<Row> tensors = spark.read()
                .format("penstock")
                .load(model.toAbsolutePath().toString())
                .where("dtype in ('F32', 'BF16')");
        return DeviceTasks.of(tensors)
                .chunkBytes(CHUNK)
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> bytes(chunk, backend).map(bytes -> Statistics.of(region, bytes)),
                        Encoders.javaSerialization(Statistics.class))
                .groupByKey((MapFunction<Statistics, String>) Statistics::name, Encoders.STRING())
                .reduceGroups((ReduceFunction<Statistics>) Statistics::and)
                .collectAsList()
                .stream()
                .map(Tuple2::_2)
                .sorted(Comparator.comparing(Statistics::name))
                .toList();
    }

    /** Returns the bytes of a chunk for the processor; a kernel would take the chunk's device memory itself. */
    private static Mono<ByteBuffer> bytes(Chunk chunk, Backend backend) {
        int length = Math.toIntExact(chunk.length());
        if (backend.capabilities().hostVisible()) {
            return Mono.just(chunk.view().buffer(0, length));
        }
        ByteBuffer copy = ByteBuffer.allocateDirect(length);
        return chunk.region()
                .buffer()
                .download(chunk.region().offset(), copy.duplicate())
                .thenReturn(copy);
    }

    private static String bars(long[] counts) {
        long most = Math.max(1, Arrays.stream(counts).max().orElse(1));
        return Arrays.stream(counts)
                .mapToObj(count -> String.valueOf(" .:-=+*#%@".charAt((int) Math.ceil(9.0 * count / most))))
                .collect(Collectors.joining());
    }

    private static Path draw(Projection projection, Path out) throws IOException {
        int most = Arrays.stream(projection.greatest).max().orElse(0);
        int least = Arrays.stream(projection.greatest).min().orElse(0);
        BufferedImage image = new BufferedImage(projection.width, projection.height, BufferedImage.TYPE_BYTE_GRAY);
        for (int pixel = 0; pixel < projection.greatest.length; pixel++) {
            int gray = (int) (255L * (projection.greatest[pixel] - least) / Math.max(1, most - least));
            image.getRaster().setSample(pixel % projection.width, pixel / projection.width, 0, gray);
        }
        Path file = out.resolve(projection.name() + ".png");
        ImageIO.write(image, "png", file.toFile());
        return file;
    }

    private static SparkSession session(String master) {
        SparkSession.Builder session = SparkSession.builder()
                .master(master)
                .appName("penstock spark-demo")
                .config("spark.plugins", PenstockPlugin.class.getName())
                .config("spark.penstock.backend", "host")
                .config("spark.sql.shuffle.partitions", "4")
                .config("spark.ui.enabled", "false");
        if (master.startsWith("local")) {
            session.config("spark.driver.host", "127.0.0.1")
                    .config("spark.driver.bindAddress", "127.0.0.1")
                    .config(
                            "spark.sql.warehouse.dir",
                            Path.of(System.getProperty("java.io.tmpdir"), "warehouse")
                                    .toString());
        }
        return session.getOrCreate();
    }
}
