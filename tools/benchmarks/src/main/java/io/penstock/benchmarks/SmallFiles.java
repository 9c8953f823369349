// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Pack;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Formats;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Many files of 0 to 9 kB, read into memory or copied; an operation is a file. */
abstract class SmallFiles implements Contender {

    private static final int MOST_BYTES = 9000;
    private static final int CHUNK_BYTES = 8192;
    private static final int IN_FOLDER = 1000;
    private static final int IN_FLIGHT = 64;
    private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");

    final List<Path> files;
    private final boolean cold;
    private final long bytes;

    private SmallFiles(List<Path> files, boolean cold) throws IOException {
        this.files = files;
        this.cold = cold;
        long sum = 0;
        for (Path file : files) {
            sum += Files.size(file);
        }
        bytes = sum;
    }

    static Contender open(Path parent, Order order) throws IOException {
        boolean chunks = order.has("chunks");
        List<Path> files = chunks
                ? prepareChunks(parent.resolve("small.zarr"), order.count("chunks"))
                : prepare(parent.resolve("small"), order.count("files"));
        boolean cold = order.has("cold");
        return switch (order.verb()) {
            case "small-packs" -> new Packs(files, cold);
            case "small-elastic" -> new Elastic(files, cold);
            case "small-loop" -> new Loop(files, cold);
            case "small-load" -> new Load(files, cold);
            case "small-copy" -> new CopyPacks(files, parent);
            case "small-copy-loop" -> new CopyLoop(files, parent);
            default -> throw new IllegalArgumentException(order.text());
        };
    }

    /** Returns whether the page cache can be dropped, with all names in it. */
    static boolean canDropCaches() {
        return Files.isWritable(DROP_CACHES);
    }

    private static List<Path> prepare(Path parent, int count) throws IOException {
        Random random = new Random(1);
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] content = new byte[random.nextInt(MOST_BYTES + 1)];
            Path folder = parent.resolve("folder-" + i / IN_FOLDER);
            Path file = folder.resolve("file-" + i);
            if (!Files.exists(file) || Files.size(file) != content.length) {
                Files.write(Files.createDirectories(folder).resolve("file-" + i), content);
            }
            files.add(file);
        }
        return files;
    }

    /** Writes an array of Zarr, of which each row is a chunk that is not encoded. */
    private static List<Path> prepareChunks(Path array, int count) throws IOException {
        List<Path> files = new ArrayList<>();
        Files.createDirectories(array);
        for (int i = 0; i < count; i++) {
            Path file = array.resolve(i + ".0");
            if (!Files.exists(file)) {
                Files.write(file, new byte[CHUNK_BYTES]);
            }
            files.add(file);
        }
        Files.writeString(array.resolve(".zarray"), """
                {"zarr_format": 2, "shape": [%d, %d], "chunks": [1, %d], "dtype": "|u1", "compressor": null,
                 "fill_value": 0, "order": "C", "filters": null}
                """.formatted(count, CHUNK_BYTES, CHUNK_BYTES));
        return files;
    }

    final long bytes() {
        return bytes;
    }

    /** Reads or copies all; returns the bytes. */
    abstract long pass() throws Exception;

    @Override
    public Measure run(long nanos) throws Exception {
        long operations = 0;
        long took = 0;
        long cpu = 0;
        while (took < nanos) {
            if (cold) {
                Files.writeString(DROP_CACHES, "3");
            }
            Measure pass = Measure.of(() -> {
                long moved = pass();
                if (moved != bytes) {
                    throw new IOException(moved + " bytes of " + bytes);
                }
                return files.size();
            });
            operations += pass.operations();
            took += pass.nanos();
            cpu += pass.cpuNanos();
        }
        return new Measure(operations, took, cpu);
    }

    private static final class Packs extends SmallFiles {

        private final Backend backend = Backends.open("host");

        Packs(List<Path> files, boolean cold) throws IOException {
            super(files, cold);
        }

        @Override
        long pass() {
            return backend.pack(Flux.fromIterable(files), Pack.Plan.DEFAULT.inFlight(IN_FLIGHT))
                    .map(Packs::lengths)
                    .reduce(0L, Long::sum)
                    .block();
        }

        private static long lengths(Pack pack) {
            try (pack) {
                return pack.entries().stream().mapToLong(Pack.Entry::length).sum();
            }
        }

        @Override
        public void close() {
            backend.close();
        }
    }

    /** A load of an array, whose metadata were read before. */
    private static final class Load extends SmallFiles {

        private final Backend backend = Backends.open("host");
        private final ArrayFile array;

        Load(List<Path> chunks, boolean cold) throws IOException {
            super(chunks, cold);
            array = Formats.read(chunks.get(0).getParent()).block();
        }

        @Override
        long pass() {
            try (LoadedArrays loaded = Loader.of(backend).load(array).block()) {
                return loaded.bytes();
            }
        }

        @Override
        public void close() {
            backend.close();
        }
    }

    private static final class Elastic extends SmallFiles {

        Elastic(List<Path> files, boolean cold) throws IOException {
            super(files, cold);
        }

        @Override
        long pass() {
            return Flux.fromIterable(files)
                    .flatMap(
                            file -> Mono.fromCallable(() -> Files.readAllBytes(file))
                                    .subscribeOn(Schedulers.boundedElastic()),
                            IN_FLIGHT)
                    .reduce(0L, (sum, content) -> sum + content.length)
                    .block();
        }
    }

    private static final class Loop extends SmallFiles {

        Loop(List<Path> files, boolean cold) throws IOException {
            super(files, cold);
        }

        @Override
        long pass() throws IOException {
            long sum = 0;
            for (Path file : files) {
                sum += Files.readAllBytes(file).length;
            }
            return sum;
        }
    }

    /**
     * Copies each time into a new folder. What was copied is deleted at the end: ext4 takes long to create files where
     * some were deleted a moment ago.
     */
    private abstract static class Copy extends SmallFiles {

        private final Path parent;
        private int passes;

        Copy(List<Path> files, Path parent) throws IOException {
            super(files, false);
            this.parent = Files.createTempDirectory(parent, "copies-");
        }

        @Override
        final long pass() throws IOException {
            return copy(Files.createDirectory(parent.resolve("pass-" + passes++)));
        }

        abstract long copy(Path folder) throws IOException;

        @Override
        public void close() throws IOException {
            try (Stream<Path> all = Files.walk(parent)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    private static final class CopyPacks extends Copy {

        private final Backend backend = Backends.open("host");

        CopyPacks(List<Path> files, Path parent) throws IOException {
            super(files, parent);
        }

        @Override
        long copy(Path folder) {
            Flux<Pack> packs = backend.pack(Flux.fromIterable(files))
                    .map(pack -> pack.at(file -> folder.resolve(file.getFileName())));
            return backend.unpack(packs, Pack.Writing.DEFAULT)
                    .reduce(0L, (sum, entry) -> sum + entry.length())
                    .block();
        }

        @Override
        public void close() throws IOException {
            backend.close();
            super.close();
        }
    }

    private static final class CopyLoop extends Copy {

        CopyLoop(List<Path> files, Path parent) throws IOException {
            super(files, parent);
        }

        @Override
        long copy(Path folder) throws IOException {
            for (Path file : files) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
            return bytes(); // a size of each would be a system call more
        }
    }
}
