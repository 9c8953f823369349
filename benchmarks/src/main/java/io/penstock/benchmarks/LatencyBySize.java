// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Penstock: reads of one size from the page cache, one at a time, by one of its paths: how long each takes from {@code
 * subscribe} to the return of {@code block}.
 */
final class LatencyBySize implements Contender {

    /** The paths, as {@code penstock.cufile.path} names them. */
    private static final List<String> PATHS = List.of("staged", "mapped", "sync", "batch", "stream");

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int FEWEST = 200;
    private static final int MOST = 10_000;
    private static final long MOST_BYTES = 8L << 30; // of one run

    private final String name;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final int bytes;
    private final long places;
    private final int count;
    private long lastOffset = -1;

    private LatencyBySize(String path, GpuBench bench, int bytes) {
        this.name = path;
        this.bytes = bytes;
        this.places = bench.sizes().hotBytes() / bytes;
        this.count = (int) Math.max(FEWEST, Math.min(MOST, MOST_BYTES / bytes));
        backend = Backends.open("cufile", bench.options(path));
        file = backend.openFile(bench.hot(), FileOption.READ, FileOption.IMMUTABLE)
                .block(LIMIT);
        buffer = backend.allocate(bytes).block(LIMIT);
    }

    /** Returns a row for each size, from 4 KiB to 64 MiB in steps of 8: only if {@code --rows} names them. */
    static List<Row> rows(GpuBench bench) {
        List<Row> rows = new ArrayList<>();
        for (int shift = 12; shift <= 26; shift += shift < 24 ? 3 : 2) {
            int bytes = 1 << shift;
            if (bytes <= bench.sizes().hotBytes()) {
                String size = bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
                List<Rounds.Factory> contenders = new ArrayList<>();
                PATHS.forEach(path -> contenders.add(() -> new LatencyBySize(path, bench, bytes)));
                rows.add(new OnlyByName(new Rounds("latency of " + size, Unit.BYTES, contenders, List.of())));
            }
        }
        return rows;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        GpuMemoryCheck.fill(buffer.nativeHandle(), bytes, GpuBench.POISON);
        return Measure.of(
                () -> {
                    for (int i = 0; i < count; i++) {
                        read();
                    }
                    return (long) count * bytes;
                },
                GpuMemoryCheck::cpuNanos);
    }

    @Override
    public Latency latency(long nanos) {
        Stopwatch watch = new Stopwatch(1);
        for (int i = 0; i < count; i++) {
            watch.begin(0);
            read();
            watch.end(0);
        }
        return watch.latency();
    }

    private void read() {
        lastOffset = ThreadLocalRandom.current().nextLong(places) * bytes;
        Completion end = backend.submit(Transfer.read(file.region(lastOffset, bytes), buffer.all()))
                .block(LIMIT);
        if (end.bytes() != bytes) {
            throw new IllegalStateException(end + " is short");
        }
    }

    @Override
    public void verify() throws IOException {
        long bad = GpuMemoryCheck.differences(buffer.nativeHandle(), bytes, lastOffset);
        if (bad != 0) {
            throw new IOException(name + ": " + bad + " wrong words");
        }
    }

    @Override
    public void close() {
        file.close();
        buffer.close();
        backend.close();
    }
}
