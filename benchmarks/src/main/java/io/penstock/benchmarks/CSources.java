// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The C peers, distributed as source and compiled by {@code cc} where they run. */
final class CSources {

    private static final List<String> SHARED = List.of("gpu.c", "check.c", "gate.c");
    private static final List<String> PEERS = List.of("peers.c", "gang.c", "own.c", "cufile.c", "small.c");
    private static final List<String> HEADERS = List.of("gpu.h", "peers.h");

    private final Path directory;

    private CSources(Path directory) {
        this.directory = directory;
    }

    /** Copies the sources from the class path and compiles them. */
    static CSources compile(Path directory) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        for (String name : Stream.of(SHARED, PEERS, HEADERS, List.of("attend.c"))
                .flatMap(List::stream)
                .toList()) {
            try (InputStream source = CSources.class.getResourceAsStream("/c/" + name)) {
                if (source == null) {
                    throw new IOException("no c/" + name + " on the class path");
                }
                Files.copy(source, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        CSources sources = new CSources(directory);
        sources.cc(sources.peers(), PEERS, List.of("-pthread"));
        sources.cc(sources.attendant(), List.of("attend.c"), List.of("-shared", "-fPIC"));
        return sources;
    }

    private void cc(Path output, List<String> sources, List<String> flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("cc", "-std=gnu11", "-O2", "-Wall", "-o", output.toString()));
        command.addAll(flags);
        command.addAll(sources);
        command.addAll(SHARED);
        command.add("-ldl");
        Process cc = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String log = new String(cc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (cc.waitFor() != 0) {
            throw new IOException("cc failed: " + log);
        }
    }

    /** Returns the program of the peers. */
    Path peers() {
        return directory.resolve("peers").toAbsolutePath();
    }

    /** Returns the library that checks GPU memory. */
    Path attendant() {
        return directory.resolve("libattend.so").toAbsolutePath();
    }
}
