// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Options;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.misc.store.DirectIODirectory;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.RescoreTopNQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.store.MMapDirectory;

/**
 * Merges and rescoring over several directories, in turns: {@code integrations/lucene/bench}. Prints tables for
 * docs/results/lucene.md.
 */
final class LuceneBench {

    private static final int QUERIES = 40; // of each thread

    private final Path folder;
    private final int segments;
    private final int each;

    private LuceneBench(Path folder, int segments, int each) {
        this.folder = folder;
        this.segments = segments;
        this.each = each;
    }

    /** Arguments: a folder, segments, documents of each, rounds. */
    public static void main(String[] arguments) throws Exception {
        LuceneBench bench =
                new LuceneBench(Path.of(arguments[0]), Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        int rounds = Integer.parseInt(arguments[3]);
        Options direct = Options.none().with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
        try (Backend backend = Backends.open("host", direct);
                Backend pool = Backends.open("host", direct.with("penstock.host.io", "pool"))) {
            bench.build(bench.index());
            bench.build(bench.other());
            bench.merges(backend, rounds);
            bench.mergesBesideQueries(backend, rounds);
            bench.rescoring(backend, pool, rounds, true, 1);
            bench.rescoring(backend, pool, rounds, true, 8);
            bench.rescoring(backend, pool, rounds, false, 1);
            bench.graph(backend, rounds);
        }
    }

    private Path index() {
        return folder.resolve("index");
    }

    /** An index of the same kind, which is queried while the first is merged. */
    private Path other() {
        return folder.resolve("other");
    }

    private void build(Path index) throws IOException {
        if (!Files.exists(index)) {
            try (Directory plain = new MMapDirectory(index)) {
                VectorIndex.write(plain, VectorIndex.Format.FLAT, segments, each, false, false);
            }
        }
    }

    /** How an index is opened. */
    @FunctionalInterface
    private interface Opening {
        Directory open(Path path) throws IOException;
    }

    private static Directory byContext(Path path) throws IOException {
        MMapDirectory mapped = new MMapDirectory(path);
        mapped.setReadAdvice(MMapDirectory.ADVISE_BY_CONTEXT);
        return mapped;
    }

    private static Opening penstock(Backend backend) {
        Options options = Options.none()
                .with(LuceneOptions.ANNOUNCED, "*.vec")
                .with(LuceneOptions.FALLBACK, LuceneOptions.Fallback.THREADS);
        return path -> PenstockDirectory.open(path, backend, options, FSLockFactory.getDefault());
    }

    private void merges(Backend backend, int rounds) throws Exception {
        Map<String, Opening> ways = new TreeMap<>();
        ways.put("1 MMapDirectory as it is", MMapDirectory::new);
        ways.put("2 MMapDirectory, ADVISE_BY_CONTEXT", LuceneBench::byContext);
        ways.put("3 DirectIODirectory, 1 MiB", path -> new DirectIODirectory(FSDirectory.open(path), 1 << 20, 0));
        ways.put("4 PenstockDirectory", penstock(backend));
        Map<String, List<double[]>> all = new TreeMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Map.Entry<String, Opening> way : ways.entrySet()) {
                all.computeIfAbsent(way.getKey(), any -> new ArrayList<>()).add(merge(way.getValue()));
            }
        }
        System.out.println(
                "| a merge of " + segments + " segments to one | s | processor s | MiB left in the page cache |");
        System.out.println("|---|---|---|---|");
        all.forEach((way, runs) -> System.out.println("| " + way.substring(2) + " | " + row(runs, 0, 1) + " | "
                + row(runs, 1, 1) + " | " + row(runs, 2, 0) + " |"));
    }

    /** Merges a copy by hard links; returns seconds, processor seconds, and what the page cache has of both. */
    private double[] merge(Opening opening) throws Exception {
        Path copy = folder.resolve("copy");
        Files.createDirectories(copy);
        for (Path file : files(index())) {
            Files.createLink(copy.resolve(file.getFileName()), file);
        }
        run("sync");
        evict(copy);
        double[] figures = new double[3];
        long processor = processorNanos();
        long start = System.nanoTime();
        try (Directory directory = opening.open(copy)) {
            VectorIndex.merge(directory, VectorIndex.Format.FLAT);
        }
        figures[0] = (System.nanoTime() - start) / 1e9;
        figures[1] = (processorNanos() - processor) / 1e9;
        figures[2] = resident(copy) / (1 << 20) + resident(index()) / (1 << 20);
        for (Path file : files(copy)) {
            Files.delete(file);
        }
        return figures;
    }

    private void mergesBesideQueries(Backend backend, int rounds) throws Exception {
        Opening direct = path -> new DirectIODirectory(FSDirectory.open(path), 1 << 20, 0);
        List<String> names = List.of(
                "MMapDirectory, ADVISE_BY_CONTEXT; RescoreTopNQuery",
                "MMapDirectory, ADVISE_BY_CONTEXT; all prefetched",
                "DirectIODirectory, 1 MiB; MMapDirectory, all prefetched",
                "PenstockDirectory for both");
        List<Opening> merged = List.of(LuceneBench::byContext, LuceneBench::byContext, direct, penstock(backend));
        List<Opening> queried =
                List.of(LuceneBench::byContext, LuceneBench::byContext, LuceneBench::byContext, penstock(backend));
        List<List<double[]>> all =
                names.stream().<List<double[]>>map(any -> new ArrayList<>()).toList();
        for (int round = 0; round < rounds; round++) {
            for (int way = 0; way < names.size(); way++) {
                AtomicBoolean ended = new AtomicBoolean();
                evict(other());
                try (Directory directory = queried.get(way).open(other());
                        DirectoryReader reader = DirectoryReader.open(directory)) {
                    Querying querying = new Querying(reader, way != 0, round, ended::get);
                    Thread thread = new Thread(querying);
                    thread.start();
                    double seconds;
                    try {
                        seconds = merge(merged.get(way))[0];
                    } finally {
                        ended.set(true);
                        thread.join();
                    }
                    double[] nanos = Arrays.stream(querying.nanos()).sorted().toArray();
                    all.get(way).add(new double[] {
                        seconds,
                        nanos.length / seconds,
                        nanos[nanos.length / 2] / 1e6,
                        nanos[nanos.length * 99 / 100] / 1e6
                    });
                }
            }
        }
        System.out.println();
        System.out.println(
                "| a merge; beside it a thread that rescores another index | merge s | queries/s | p50 ms | p99 ms |");
        System.out.println("|---|---|---|---|---|");
        for (int way = 0; way < names.size(); way++) {
            List<double[]> runs = all.get(way);
            System.out.println("| " + names.get(way) + " | " + row(runs, 0, 1) + " | " + row(runs, 1, 0) + " | "
                    + row(runs, 2, 2) + " | " + row(runs, 3, 2) + " |");
        }
    }

    private void rescoring(Backend backend, Backend pool, int rounds, boolean cold, int threads) throws Exception {
        Map<String, Opening> ways = new TreeMap<>();
        ways.put("1 RescoreTopNQuery, MMapDirectory, RANDOM", LuceneBench::byContext);
        ways.put("2 all prefetched, MMapDirectory, RANDOM", LuceneBench::byContext);
        ways.put("3 PenstockDirectory by a pool of preads", penstock(pool));
        ways.put("4 PenstockDirectory", penstock(backend));
        Map<String, List<double[]>> all = new TreeMap<>();
        for (int round = 0; round < rounds; round++) {
            List<String> answers = new ArrayList<>();
            for (Map.Entry<String, Opening> way : ways.entrySet()) {
                boolean announces = !way.getKey().startsWith("1");
                all.computeIfAbsent(way.getKey(), any -> new ArrayList<>())
                        .add(queries(way.getValue(), announces, cold, threads, round, answers));
            }
            if (answers.stream().distinct().count() != 1) {
                throw new IllegalStateException("the answers differ");
            }
        }
        System.out.println();
        System.out.println("| " + Querying.CANDIDATES + " candidates, " + (cold ? "cold" : "in the page cache") + ", "
                + (threads == 1 ? "one thread" : threads + " threads")
                + " | queries/s | p50 ms | p99 ms | processor ms |");
        System.out.println("|---|---|---|---|---|");
        all.forEach((way, runs) -> System.out.println("| " + way.substring(2) + " | " + row(runs, 0, 0) + " | "
                + row(runs, 1, 2) + " | " + row(runs, 2, 2) + " | " + row(runs, 3, 2) + " |"));
    }

    /** Whole queries of a graph over 8-bit vectors, whose full vectors are cold; built in a minute with a dimension of 128. */
    private void graph(Backend backend, int rounds) throws Exception {
        Path index = folder.resolve("graph");
        int documents = 200_000;
        if (!Files.exists(index)) {
            try (Directory plain = new MMapDirectory(index)) {
                VectorIndex.write(plain, VectorIndex.Format.INT8, 2, documents / 2, false, false);
            }
        }
        List<String> names = List.of("RescoreTopNQuery, MMapDirectory, RANDOM", "PenstockDirectory", "the graph alone");
        List<List<double[]>> all =
                names.stream().<List<double[]>>map(any -> new ArrayList<>()).toList();
        for (int round = 0; round < rounds; round++) {
            List<String> answers = new ArrayList<>();
            for (int way = 0; way < names.size(); way++) {
                try (Directory directory = way == 1 ? penstock(backend).open(index) : LuceneBench.byContext(index);
                        DirectoryReader reader = DirectoryReader.open(directory)) {
                    coldVectors(index);
                    all.get(way).add(graphQueries(new IndexSearcher(reader), way, round, answers));
                }
            }
            if (!answers.get(0).equals(answers.get(1))) {
                throw new IllegalStateException("the answers differ");
            }
        }
        System.out.println();
        System.out.println("| 200 candidates of a graph over 8-bit vectors of " + VectorIndex.DIMENSION
                + " floats, one thread | p50 ms | p99 ms |");
        System.out.println("|---|---|---|");
        for (int way = 0; way < names.size(); way++) {
            System.out.println(
                    "| " + names.get(way) + " | " + row(all.get(way), 0, 2) + " | " + row(all.get(way), 1, 2) + " |");
        }
    }

    private static void coldVectors(Path index) throws Exception {
        for (Path file : files(index)) {
            if (file.toString().endsWith(".vec")) {
                evict(file);
            } else {
                run("dd", "if=" + file, "of=/dev/null", "bs=1M", "status=none");
            }
        }
    }

    private static double[] graphQueries(IndexSearcher searcher, int way, int seed, List<String> answers)
            throws IOException {
        Random random = new Random(seed);
        double[] nanos = new double[100];
        StringBuilder answer = new StringBuilder();
        for (int i = 0; i < nanos.length; i++) {
            float[] target = VectorIndex.vector(random);
            Query candidates = new KnnFloatVectorQuery(VectorIndex.FIELD, target, 200);
            Query query = switch (way) {
                case 0 ->
                    RescoreTopNQuery.createFullPrecisionRescorerQuery(
                            candidates, target, VectorIndex.FIELD, Querying.COUNT);
                case 1 -> new PenstockRescoreQuery(candidates, VectorIndex.FIELD, target, Querying.COUNT);
                default -> candidates;
            };
            long start = System.nanoTime();
            for (ScoreDoc hit : searcher.search(query, Querying.COUNT).scoreDocs) {
                answer.append(hit.doc).append(' ');
            }
            nanos[i] = System.nanoTime() - start;
        }
        answers.add(answer.toString());
        Arrays.sort(nanos);
        return new double[] {nanos[50] / 1e6, nanos[99] / 1e6};
    }

    /** Returns queries per second, the median and the 99th percentile of a query, and processor time of each. */
    private double[] queries(
            Opening opening, boolean announces, boolean cold, int threads, int seed, List<String> answers)
            throws Exception {
        try (Directory directory = opening.open(index());
                DirectoryReader reader = DirectoryReader.open(directory)) {
            if (cold) {
                evict(index());
            } else {
                for (Path file : files(index())) {
                    run("dd", "if=" + file, "of=/dev/null", "bs=1M", "status=none");
                }
            }
            List<Querying> all = new ArrayList<>();
            List<Thread> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                AtomicInteger done = new AtomicInteger();
                Querying querying =
                        new Querying(reader, announces, seed * threads + i, () -> done.incrementAndGet() == QUERIES);
                all.add(querying);
                running.add(new Thread(querying));
            }
            long processor = processorNanos();
            long start = System.nanoTime();
            running.forEach(Thread::start);
            for (Thread thread : running) {
                thread.join();
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            processor = processorNanos() - processor;
            answers.add(all.stream().map(Querying::answer).collect(Collectors.joining()));
            double[] nanos = all.stream()
                    .flatMapToDouble(querying -> Arrays.stream(querying.nanos()))
                    .sorted()
                    .toArray();
            return new double[] {
                nanos.length / seconds,
                nanos[nanos.length / 2] / 1e6,
                nanos[nanos.length * 99 / 100] / 1e6,
                processor / 1e6 / nanos.length
            };
        }
    }

    /** The median and the range of a figure. */
    private static String row(List<double[]> runs, int figure, int digits) {
        double[] sorted = runs.stream().mapToDouble(run -> run[figure]).sorted().toArray();
        String form = "%." + digits + "f";
        return String.format(
                form + " (" + form + " to " + form + ")",
                sorted[sorted.length / 2],
                sorted[0],
                sorted[sorted.length - 1]);
    }

    private static long processorNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static List<Path> files(Path of) throws IOException {
        try (Stream<Path> files = Files.list(of)) {
            return files.filter(file -> !file.endsWith("write.lock")).toList();
        }
    }

    private static void evict(Path of) throws Exception {
        for (Path file : Files.isDirectory(of) ? files(of) : List.of(of)) {
            run("dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none");
        }
    }

    private static long resident(Path of) throws Exception {
        long sum = 0;
        for (Path file : files(of)) {
            if (file.toString().endsWith(".vec")) {
                sum += Long.parseLong(run("fincore", "--bytes", "--noheadings", "--output", "RES", file.toString())
                        .trim());
            }
        }
        return sum;
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output);
        }
        return output;
    }
}
