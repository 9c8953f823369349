// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.SharedRead;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.benchmarks.Comparison.Kind;
import io.penstock.benchmarks.Rounds.Factory;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import reactor.core.publisher.Flux;

/** Penstock: a backend for each of several GPUs, all of which read a whole file at the same time. */
final class SeveralGpus implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long MIB = 1 << 20;
    private static final long TENSOR_BYTES = 48 * MIB; // about that of a large layer of an 8B model
    private static final String DEVICE = "penstock.cufile.device";
    private static final String C = "C ring";
    private static final String OURS = "Penstock, default options, ";
    private static final String ONCE = "one read for all GPUs";

    /** How the GPUs get the file. */
    private enum Reads {
        /** Each reads all of it. */
        EACH,
        /** Each byte is read once, and copied to the others. */
        SHARED,
        /** The first has read it, and the others copy from it: only that is measured. */
        COPIED
    }

    private final String name;
    private final long bytes;
    private final Reads reads;
    private final List<Backend> backends = new ArrayList<>();
    private final List<StorageFile> files = new ArrayList<>();
    private final List<DeviceBuffer> buffers = new ArrayList<>();
    private final TreeSet<String> paths = new TreeSet<>();

    private SeveralGpus(String name, List<Path> files, long bytes, Reads reads, Options options) {
        this.name = name;
        this.reads = reads;
        this.bytes = bytes;
        for (int device = 0; device < files.size(); device++) {
            Backend backend = backend(device, options);
            backends.add(backend);
            this.files.add(backend.openFile(files.get(device), FileOption.READ).block(LIMIT));
            buffers.add(backend.allocate(bytes).block(LIMIT));
        }
    }

    /** Opens the backend of a GPU, with default options. */
    static Backend backend(int device) {
        return backend(device, Options.none());
    }

    private static Backend backend(int device, Options options) {
        return Backends.open("cufile", options.with(DEVICE, Integer.toString(device)));
    }

    /** Returns the row, and the one that looks for the best options; none where there is one GPU. */
    static List<Row> rows(GpuBench bench) {
        int devices = devices();
        if (devices < 2) {
            System.out.println("one GPU: the rows of several are left out");
            return List.of();
        }
        return List.of(together(bench, devices), copies(bench, devices), grid(bench, devices));
    }

    static int devices() {
        try {
            return GpuMemoryCheck.devices();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a contender of default options by which each GPU reads the same file. */
    static Factory each(String name, GpuBench bench, int devices) {
        return ours(name, bench, devices, true, Reads.EACH, Options.none());
    }

    private static Row together(GpuBench bench, int devices) {
        String row = "hot file to several GPUs";
        List<Factory> contenders = peers(bench, devices);
        contenders.add(() -> new SeveralGpus(
                OURS + "one GPU", List.of(bench.hot()), bench.sizes().hotBytes(), Reads.EACH, Options.none()));
        contenders.add(ours(OURS + "the same file", bench, devices, true, Reads.EACH, Options.none()));
        contenders.add(ours(OURS + "different files", bench, devices, false, Reads.EACH, Options.none()));
        contenders.add(ours(OURS + ONCE, bench, devices, true, Reads.SHARED, Options.none()));
        return new Rounds(
                row,
                Unit.BYTES,
                contenders,
                List.of(
                        speed(row + ": the same file / best C ring", OURS + "the same file", 0.95),
                        speed(row + ": different files / best C ring", OURS + "different files", 0.95),
                        new Comparison(
                                row + ": one read for all / one GPU",
                                Mode.DEFAULT.toString(),
                                OURS + ONCE,
                                OURS + "one GPU",
                                Kind.SPEED,
                                0.95 * devices),
                        new Comparison(
                                row + ": one read for all / one GPU, processor time per byte",
                                Mode.DEFAULT.toString(),
                                OURS + ONCE,
                                OURS + "one GPU",
                                Kind.COST,
                                1.1 / devices)));
    }

    /** From the memory of one GPU to that of another. */
    private static Row copies(GpuBench bench, int devices) {
        String row = "copy between several GPUs";
        String peer = "cuMemcpyPeerAsync";
        return new Rounds(
                row,
                Unit.BYTES,
                List.of(
                        bench.peer(peer, "peer devices=2", ""),
                        ours(OURS + "a copy", bench, 2, true, Reads.COPIED, Options.none())),
                List.of(new Comparison(
                        row + " / " + peer, Mode.DEFAULT.toString(), OURS + "a copy", peer, Kind.SPEED, 0.9)));
    }

    private static List<Factory> peers(GpuBench bench, int devices) {
        List<Factory> peers = new ArrayList<>();
        peers.add(bench.reader("pinned H2D, one GPU", "link", ""));
        peers.add(bench.reader("pinned H2D, all GPUs", "link", "devices=" + devices));
        for (int perDevice : new int[] {8, 10, 12}) {
            for (long mib : new long[] {1, 2, 4}) {
                String each = perDevice + " threads each, 2 buffers of " + mib + " MiB";
                String order = " chunk=" + mib * MIB + " buffers=2 threads=";
                peers.add(bench.reader(C + ", " + each, "loop", "devices=" + devices + order + devices * perDevice));
            }
        }
        peers.add(bench.reader(
                "one GPU, C ring, 12 threads, 2 MiB", "loop", "chunk=" + 2 * MIB + " buffers=2 threads=12"));
        peers.add(bench.reader(
                "one GPU, C ring, 12 threads, 4 MiB", "loop", "chunk=" + 4 * MIB + " buffers=2 threads=12"));
        return peers;
    }

    private static Comparison speed(String row, String ours, double goal) {
        return new Comparison(row, Mode.DEFAULT.toString(), ours, Rounds.BEST + C, Kind.SPEED, goal);
    }

    private static Factory ours(String name, GpuBench bench, int devices, boolean same, Reads reads, Options options) {
        List<Path> files = new ArrayList<>();
        for (int device = 0; device < devices; device++) {
            files.add(same || device % 2 == 0 ? bench.hot() : bench.unread());
        }
        return () -> new SeveralGpus(name, files, bench.sizes().hotBytes(), reads, options);
    }

    /** Which staging options suit several GPUs: only if {@code --rows} names it. */
    private static Row grid(GpuBench bench, int devices) {
        return new StagingGrid(
                bench,
                "staging-grid of GPUs",
                new int[] {6 * devices, 8 * devices, 12 * devices},
                (name, options) ->
                        ours(name, bench, devices, true, Reads.EACH, options).open());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        for (int device = 0; device < buffers.size(); device++) {
            GpuMemoryCheck.fill(device, buffers.get(device).nativeHandle(), bytes, GpuBench.POISON);
        }
        if (reads == Reads.COPIED) {
            moved(backends.get(0).submit(whole(0)).flux());
        }
        return Measure.of(this::read, GpuMemoryCheck::cpuNanos);
    }

    private long read() {
        List<Flux<Completion>> all = new ArrayList<>();
        SharedRead shared = new SharedRead();
        for (int device = reads == Reads.COPIED ? 1 : 0; device < buffers.size(); device++) {
            Backend backend = backends.get(device);
            all.add(
                    switch (reads) {
                        case EACH -> backend.submit(Flux.fromIterable(tensors(device)), SubmitOptions.DEFAULT);
                        case SHARED -> shared.join(backend, whole(device)).flux();
                        case COPIED ->
                            backend.submit(Transfer.copy(
                                            buffers.get(0).all(),
                                            buffers.get(device).all()))
                                    .flux();
                    });
        }
        return moved(Flux.merge(all));
    }

    private List<Transfer> tensors(int device) {
        List<Transfer> transfers = new ArrayList<>();
        for (long at = 0; at < bytes; at += TENSOR_BYTES) {
            long length = Math.min(TENSOR_BYTES, bytes - at);
            transfers.add(Transfer.read(
                    files.get(device).region(at, length), buffers.get(device).region(at, length)));
        }
        return transfers;
    }

    private Transfer whole(int device) {
        return Transfer.read(
                files.get(device).region(0, bytes), buffers.get(device).all());
    }

    private long moved(Flux<Completion> ends) {
        long moved = 0;
        for (Completion completion : ends.collectList().block(LIMIT)) {
            moved += completion.bytes();
            paths.add(completion.path() + " (" + completion.reason() + ")");
        }
        return moved;
    }

    @Override
    public void verify() throws IOException {
        for (int device = 0; device < buffers.size(); device++) {
            long bad = GpuMemoryCheck.differences(device, buffers.get(device).nativeHandle(), bytes, 0);
            if (bad != 0) {
                throw new IOException(name + ": " + bad + " wrong words on GPU " + device);
            }
        }
    }

    @Override
    public void close() {
        System.out.println(name + ": " + String.join("; ", paths));
        files.forEach(StorageFile::close);
        buffers.forEach(DeviceBuffer::close);
        backends.forEach(Backend::close);
    }
}
