// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/** Reads a file by each kind of host I/O, and idles: the program of a {@link ChildJvm}. */
final class IdleAndTell {

    static final String BEGIN = "/penstock-idle-begins";
    static final String END = "/penstock-idle-ends";

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long SETTLED_MILLIS = 300;

    private IdleAndTell() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        try (Backend uring = open(HostIo.URING);
                Backend pool = open(HostIo.POOL)) {
            read(uring, Path.of(args[0]));
            read(pool, Path.of(args[0]));
            List<Path> threads = threads();
            for (String before = ""; !before.equals(switches(threads)); ) {
                before = switches(threads);
                Thread.sleep(SETTLED_MILLIS);
            }
            for (Path thread : threads) {
                System.out.println("thread: " + thread.getFileName());
            }
            Files.exists(Path.of(BEGIN));
            Thread.sleep(SETTLED_MILLIS);
            Files.exists(Path.of(END));
        }
    }

    private static Backend open(HostIo io) {
        return Backends.open("host", Options.none().with(HostOptions.IO, io));
    }

    private static void read(Backend backend, Path path) {
        try (StorageFile file = get(backend.openFile(path, FileOption.READ));
                DeviceBuffer buffer = get(backend.allocate(4096))) {
            get(backend.submit(Transfer.read(file.region(0, 4096), buffer.all())));
        }
    }

    /** Returns the directories, in /proc, of the threads that are the engine's. */
    private static List<Path> threads() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/task"))) {
            return all.filter(thread -> content(thread.resolve("comm")).startsWith("penstock"))
                    .toList();
        }
    }

    private static String switches(List<Path> threads) {
        StringBuilder all = new StringBuilder();
        for (Path thread : threads) {
            content(thread.resolve("status"))
                    .lines()
                    .filter(line -> line.startsWith("voluntary"))
                    .forEach(all::append);
        }
        return all.toString();
    }

    private static String content(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException gone) {
            return "";
        }
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(PATIENCE));
    }
}
