// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A program from its start, or from that of its {@code main}, until it reports the first byte, or the last. */
final class StartContender implements Contender {

    private static final Pattern PART = Pattern.compile("([0-9.]+) ms");
    private static final String FIRST_BYTE = "first byte";
    private static final long FIRST_BLOCK = 4096;
    private static final long ARCHIVING_SECONDS = 60;

    private interface Start {
        Process begin() throws IOException;
    }

    private final String name;
    private final Start start;
    private final Since since;
    private String last = "";

    private StartContender(String name, Start start, Since since) {
        this.name = name;
        this.start = start;
        this.since = since;
    }

    /** What the time counts from. */
    private enum Since {
        PROCESS,
        MAIN,
        READ
    }

    /** Creates a JVM. */
    static StartContender jvm(String name, GpuBench bench, String... options) {
        return new StartContender(name, () -> begin(bench, List.of(options), FIRST_BLOCK), Since.PROCESS);
    }

    /** Creates a JVM with a class archive, as the launchers do. */
    static StartContender archived(String name, GpuBench bench, String... options)
            throws IOException, InterruptedException {
        List<String> arguments = List.of(bench.hot().toString(), Long.toString(FIRST_BLOCK));
        List<String> all =
                new ArrayList<>(List.of("-XX:SharedArchiveFile=" + archive(bench, arguments), "-Xlog:disable"));
        all.addAll(List.of(options));
        return new StartContender(name, () -> begin(all, arguments), Since.PROCESS);
    }

    /** Creates a program of the C peers. */
    static StartContender c(String name, GpuBench bench, String variant) {
        return new StartContender(
                name, () -> bench.peers().start("first", variant, bench.hot().toString()), Since.PROCESS);
    }

    /** Creates a JVM that reads the whole file. */
    static StartContender whole(String name, GpuBench bench) {
        return new StartContender(
                name, () -> begin(bench, List.of(), bench.sizes().hotBytes()), Since.PROCESS);
    }

    /** Creates a JVM that loads the arrays of a file, with a class archive or without. */
    static StartContender arrays(String name, GpuBench bench, Path file, boolean withArchive)
            throws IOException, InterruptedException {
        List<String> arguments = List.of(file.toString(), FirstByte.ARRAYS);
        List<String> options = withArchive
                ? List.of("-XX:SharedArchiveFile=" + archive(bench, arguments), "-Xlog:disable")
                : List.of();
        return new StartContender(name, () -> begin(options, arguments), Since.PROCESS);
    }

    /** Creates another program, which prints what those of this package do. */
    static StartContender other(String name, List<String> command) {
        return new StartContender(
                name,
                () -> new ProcessBuilder(command)
                        .redirectError(Redirect.INHERIT)
                        .start(),
                Since.PROCESS);
    }

    /** Creates a program of the C peers that reads the whole file by a ring of staging buffers. */
    static StartContender wholeC(String name, GpuBench bench) {
        String bytes = Long.toString(bench.sizes().hotBytes());
        return new StartContender(
                name, () -> bench.peers().start("first", "own", bench.hot().toString(), bytes), Since.PROCESS);
    }

    /** Returns the same, with the time that the program has measured itself. */
    StartContender fromMain() {
        return new StartContender(name + ", from main", start, Since.MAIN);
    }

    /** Returns the same, with the time of the read that the program has measured itself. */
    StartContender ofRead() {
        return new StartContender(name + ", the read", start, Since.READ);
    }

    private static Process begin(GpuBench bench, List<String> options, long bytes) throws IOException {
        return begin(options, List.of(bench.hot().toString(), Long.toString(bytes)));
    }

    private static Process begin(List<String> options, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), FirstByte.class.getName()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
        builder.environment().putAll(GpuBench.libraries());
        return builder.start();
    }

    /**
     * Returns the archive, written by a run at its exit; fails for a class path with folders, which cannot have one.
     */
    private static Path archive(GpuBench bench, List<String> arguments) throws IOException, InterruptedException {
        Path archive = bench.directory().resolve("first-byte.jsa");
        Files.deleteIfExists(archive); // perhaps of other classes
        Process run = begin(List.of("-XX:ArchiveClassesAtExit=" + archive, "-Xlog:disable"), arguments);
        run.getInputStream().readAllBytes();
        if (!run.waitFor(ARCHIVING_SECONDS, TimeUnit.SECONDS)) {
            run.destroyForcibly();
        }
        if (!Files.exists(archive)) {
            System.err.println("no archive of classes: is the class path of jars alone?");
        }
        return archive;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        long begin = System.nanoTime();
        Process process = start.begin();
        try (BufferedReader printed =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = printed.readLine();
            while (line != null && !line.startsWith(FIRST_BYTE)) {
                last = line; // the output of a failing program, or of a library before it
                line = printed.readLine();
            }
            long took = System.nanoTime() - begin;
            if (line == null) {
                throw new IOException(name + " printed " + last);
            }
            last = line;
            return new Measure(1, since == Since.PROCESS ? took : printedNanos(line), 0);
        } finally {
            process.waitFor();
        }
    }

    private long printedNanos(String line) {
        double[] parts = PART.matcher(line)
                .results()
                .mapToDouble(part -> Double.parseDouble(part.group(1)))
                .toArray();
        double millis = since == Since.READ
                ? parts[parts.length - 1]
                : Arrays.stream(parts).sum();
        return (long) (millis * 1e6);
    }

    @Override
    public void close() {
        System.out.println(name + ": " + last);
    }
}
