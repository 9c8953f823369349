// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Chunk;
import io.penstock.tck.Require;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/**
 * Speculative copies of tasks. Spark starts one on another host only, and the executors of a {@code local-cluster} are
 * all on one: so there is a cluster with workers at two addresses here.
 */
@Tag("once")
@Tag("slow")
class SpeculationTest {

    private static final int FILES = 4;

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void ofATaskThatHangsTheCopyCountsAndNothingIsHeld(@TempDir Path folder) throws Exception {
        Require.backend("spark", Cluster.lacks());
        Path data = Files.createDirectory(folder.resolve("data"));
        for (int i = 0; i < FILES; i++) {
            Files.write(data.resolve("f" + i), Samples.bytes(i, 400_000));
        }
        Path log = folder.resolve("log");
        String port = String.valueOf(freePort());
        String url = "spark://127.0.0.1:" + port;
        List<Process> cluster = new ArrayList<>();
        try {
            cluster.add(
                    start("127.0.0.1", "org.apache.spark.deploy.master.Master", "--port", port, "--webui-port", "0"));
            awaitConnection(Integer.parseInt(port));
            for (String host : List.of("127.0.0.1", "127.0.0.2")) {
                cluster.add(worker(host, url));
            }
            Process driver = new ProcessBuilder(java(getClass().getName(), url, folder.toString()))
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            cluster.add(driver);
            assertThat(driver.waitFor()).as(() -> read(log)).isZero();
        } finally {
            cluster.forEach(Process::destroyForcibly);
        }
        assertThat(folder.resolve("hangs")).exists();
        assertThat(read(log)).contains("every file once: true");
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** The driver: ends with 0 when the job has ended and no executor holds anything any more. */
    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[1]);
        System.setProperty("spark.speculation", "true");
        System.setProperty("spark.speculation.quantile", "0.5");
        SparkSession session = Cluster.start(arguments[0], Cluster.IN_FLIGHT);
        String hangs = folder.resolve("hangs").toString();
        List<String> parts = DeviceTasks.of(session.read()
                        .format("penstock")
                        .option("raw", "true")
                        .option("splitBytes", "400k")
                        .load(folder.resolve("data").toString()))
                .chunkBytes(100_000)
                .mapPartitionsOnDevice((region, chunk, backend) -> name(region, chunk, hangs), Encoders.STRING())
                .collectAsList();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 4 * FILES; i++) {
            expected.add("f" + i / 4 + " " + i % 4 * 100_000);
        }
        System.out.println(
                "every file once: " + parts.stream().sorted().toList().equals(expected));
        Cluster.awaitNothingHeld(session);
        System.exit(0);
    }

    /** Hangs in the first attempt of a task, in the middle of its file. */
    private static Mono<String> name(Region region, Chunk chunk, String hangs) {
        boolean middle = region.name().equals("f3") && chunk.index() == 2;
        return middle && new File(hangs).mkdir() ? Mono.never() : Mono.just(region.name() + " " + chunk.fileOffset());
    }

    private static Process worker(String host, String url) throws IOException {
        String work = Path.of(System.getenv("SPARK_HOME"), "work-" + host).toString();
        return start(
                host,
                "org.apache.spark.deploy.worker.Worker",
                "--webui-port",
                "0",
                "--cores",
                "2",
                "--memory",
                "1g",
                "--work-dir",
                work,
                url);
    }

    /** Starts a process of Spark's own, whose output is not kept. */
    private static Process start(String host, String main, String... arguments) throws IOException {
        List<String> command = java(main, "--host", host);
        command.addAll(List.of(arguments));
        ProcessBuilder process =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        process.environment().put("SPARK_LOCAL_IP", host);
        return process.start();
    }

    /** Returns the command of a JVM like this one. */
    private static List<String> java(String main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx512m");
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--") || argument.startsWith("-Djdk"))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
        command.addAll(List.of(arguments));
        return command;
    }

    private static void awaitConnection(int port) throws IOException {
        while (true) {
            try {
                new Socket(InetAddress.getLoopbackAddress(), port).close();
                return;
            } catch (ConnectException notYet) {
                Thread.onSpinWait(); // the test's own limit of time ends this
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
