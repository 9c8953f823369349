// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.tck.Require;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Two executors in JVMs of their own, started once for all test classes of the module, and stopped after the last. */
final class Cluster implements BeforeAllCallback {

    /** Bytes that tasks of an executor may have in flight. */
    static final String IN_FLIGHT = "32m";

    private static final long MEMORY_BYTES = 4L << 30;

    @Override
    public void beforeAll(ExtensionContext context) {
        Require.backend("spark", lacks());
        context.getRoot()
                .getStore(ExtensionContext.Namespace.GLOBAL)
                .getOrComputeIfAbsent(Started.class, key -> new Started(), Started.class);
    }

    /** Returns what the machine lacks; null if nothing. */
    static @Nullable String lacks() {
        OperatingSystemMXBean machine = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        if (machine.getTotalMemorySize() < MEMORY_BYTES) {
            return "three JVMs need 4 GiB of memory, had " + machine.getTotalMemorySize() + " bytes";
        }
        return File.separatorChar == '/' ? null : "a worker of Spark needs a Unix";
    }

    @SuppressWarnings("deprecation") // its replacement came with JUnit 5.13; this one works in all
    private record Started(SparkSession session) implements ExtensionContext.Store.CloseableResource {

        Started() {
            this(start("local-cluster[2,1,1024]", IN_FLIGHT));
        }

        @Override
        public void close() {
            session.stop();
        }
    }

    private static List<String> held(SparkSession session) {
        MapPartitionsFunction<Long, String> held = ignored -> {
            try (ExecutorBackend.Lease lease = ExecutorBackend.lease()) {
                var counters = lease.device().counters();
                return List.of(counters.pins() + " pins, " + counters.files() + " files, " + counters.buffers()
                                + " buffers, " + lease.budget().available() + " free")
                        .iterator();
            }
        };
        return session.range(0, 8, 1, 4)
                .as(Encoders.LONG())
                .mapPartitions(held, Encoders.STRING())
                .collectAsList();
    }

    /** Waits until no executor holds anything; the caller has a limit of time. */
    static void awaitNothingHeld(SparkSession session) {
        List<String> held = held(session);
        while (held.isEmpty() || !held.stream().allMatch("0 pins, 0 files, 0 buffers, 33554432 free"::equals)) {
            held = held(session);
        }
    }

    /** Cancels a job once its first task has created a file; the caller has a limit of time. */
    static void cancelOnceStarted(SparkSession session, Dataset<?> rows, Path started, boolean interrupts)
            throws InterruptedException {
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread job = new Thread(() -> {
            session.sparkContext().setJobGroup("cancelled", "a job that never ends", interrupts);
            try {
                rows.collectAsList();
            } catch (Throwable e) {
                end.set(e);
            }
        });
        job.start();
        while (!Files.exists(started)) {
            Thread.onSpinWait();
        }
        session.sparkContext().cancelJobGroup("cancelled");
        job.join();
        assertThat(end.get()).hasStackTraceContaining("cancelled");
    }

    /** Starts a cluster whose executors have this class path, and the backend {@code host}. */
    static SparkSession start(String master, String inFlightBytes) {
        return start(master, Map.of("spark.penstock.backend", "host", "spark.penstock.in-flight-bytes", inFlightBytes));
    }

    /** Starts a cluster with these settings, whose executors have this class path. */
    static SparkSession start(String master, Map<String, String> settings) {
        try {
            Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
        SparkSession.Builder builder = SparkSession.builder()
                .master(master)
                .appName("penstock")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "2")
                .config(
                        "spark.sql.warehouse.dir",
                        Path.of(System.getenv("SPARK_HOME"), "warehouse").toString())
                .config("spark.executor.extraClassPath", classPath)
                .config("spark.plugins", PenstockPlugin.class.getName());
        settings.forEach(builder::config);
        SparkSession session = builder.getOrCreate();
        session.range(2).count(); // waits for an executor: no test's limit of time includes that
        return session;
    }
}
