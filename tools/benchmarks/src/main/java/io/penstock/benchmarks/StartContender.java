// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A program from its start, or from the start of its {@code main}, until it reports the first byte, or the last. */
final class StartContender implements Contender {

    private static final Pattern PART = Pattern.compile("([0-9.]+) ms");
    private static final String FIRST_BYTE = "first byte";
    private static final long ARCHIVING_SECONDS = 60;

    /** Whether an archive has classes linked and profiles, too. */
    private static final boolean IS_25 = Runtime.version().feature() >= 25;

    /** What the time counts from; but for the start of the process, the program has measured it itself. */
    private enum Since {
        PROCESS,
        MAIN,
        OPENED,
        READ
    }

    private final ProcessBuilder program;
    private final Since since;
    private final long bytes; // that it reads, or 1
    private String last = "";

    private StartContender(ProcessBuilder program, Order order) {
        this.program = program;
        this.since = order.constant(Since.class, "since", Since.PROCESS);
        this.bytes = order.number("rate", 1);
    }

    /** Returns a program that prints what the programs of this package print. */
    static StartContender program(List<String> command, Map<String, String> environment, Order order) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
        builder.environment().putAll(environment);
        return new StartContender(builder, order);
    }

    /** Returns {@link FirstByte} in a JVM; with {@code archive} by an archive of classes, as the launchers do. */
    static StartContender jvm(List<String> arguments, Path folder, Order order)
            throws IOException, InterruptedException {
        List<String> options = new ArrayList<>();
        if (order.has("archive")) {
            options.addAll(jna(folder));
            String use = IS_25 ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=";
            options.addAll(List.of(use + archive(options, arguments, folder, order), "-Xlog:disable"));
        }
        if (order.has("options")) {
            options.add(order.get("options"));
        }
        return jvm(options, arguments, order);
    }

    /** What the launchers tell JNA: where its library is, and where the system's are, which it asks ldconfig otherwise. */
    private static List<String> jna(Path folder) throws IOException {
        String name = "libjnidispatch.so";
        String processor = System.getProperty("os.arch").replace("amd64", "x86-64");
        String resource = "/com/sun/jna/linux-" + processor + "/" + name;
        Path unpacked = Files.createDirectories(folder.resolve("jna"));
        try (InputStream library = StartContender.class.getResourceAsStream(resource)) {
            Files.copy(Objects.requireNonNull(library), unpacked.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
        return List.of("-Djna.boot.library.path=" + unpacked, "-Djna.platform.library.path=/usr/lib:/lib");
    }

    private static StartContender jvm(List<String> options, List<String> arguments, Order order) {
        List<String> command = OtherProcess.java(options, FirstByte.class, arguments.toArray(new String[0]));
        return program(command, GpuBench.libraries(), order);
    }

    /**
     * Returns the archive, written by a run at its exit; fails for a class path with folders, which cannot have one.
     */
    private static Path archive(List<String> jna, List<String> arguments, Path folder, Order order)
            throws IOException, InterruptedException {
        Path archive = folder.resolve("first-byte-" + Integer.toHexString(arguments.hashCode()) + ".jsa");
        Files.deleteIfExists(archive); // perhaps of other classes
        List<String> options = new ArrayList<>(jna);
        String make = IS_25 ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=";
        options.addAll(List.of(make + archive, "-Xlog:disable"));
        Process run = jvm(options, arguments, order).program.start();
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
    public Measure run(long nanos) throws Exception {
        long begin = System.nanoTime();
        Process process = program.start();
        try (BufferedReader printed =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = printed.readLine();
            while (line != null && !line.startsWith(FIRST_BYTE)) {
                last = line; // the output of a failing program, or of a library before it
                line = printed.readLine();
            }
            long took = System.nanoTime() - begin;
            if (line == null) {
                throw new IOException("it printed " + last);
            }
            last = line;
            return new Measure(bytes, since == Since.PROCESS ? took : printedNanos(line), 0);
        } finally {
            process.waitFor();
        }
    }

    private long printedNanos(String line) {
        double[] parts = PART.matcher(line)
                .results()
                .mapToDouble(part -> Double.parseDouble(part.group(1)))
                .toArray();
        double millis = switch (since) {
            case READ -> parts[parts.length - 1];
            case OPENED -> Arrays.stream(parts).skip(1).sum();
            default -> Arrays.stream(parts).sum();
        };
        return (long) (millis * 1e6);
    }

    @Override
    public String log() {
        return last;
    }
}
