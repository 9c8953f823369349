// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.benchmarks.Comparison.Kind;
import io.penstock.benchmarks.Rounds.Factory;
import io.penstock.benchmarks.SmallReads.From;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The rows of the cufile backend and their goals. */
final class CufileRows {

    private static final String DEFAULT = Mode.DEFAULT.toString();
    private static final long MIB = 1 << 20;
    private static final int SPIN_MICROS = 2000; // longer than a gate stays shut
    private static final double KVIKIO_BEST = 45.7; // GB/s on an H200, in a separate run
    private static final String LINK = "pinned H2D, the limit";
    private static final String STAGED = "Penstock staged";
    private static final String AGAIN = "Penstock mapped, read again";
    private static final String FIRST = "Penstock mapped, first read";
    private static final String PLAIN = "Penstock default options";
    private static final String PLAIN_SEGMENTS = "Penstock default options, 16 MiB transfers";
    private static final String PLAIN_IMMUTABLE = "Penstock default options, IMMUTABLE";
    private static final String PLAIN_FIRST = "Penstock default options, IMMUTABLE, first read";
    private static final String STREAM = "Penstock stream";
    private static final String BEST_CUFILE = Rounds.BEST + "cuFile";
    private static final String BEST_LOOP = Rounds.BEST + "pread loop";
    private static final String BEST_OF_OURS = Rounds.BEST + "Penstock";

    private final GpuBench bench;
    private final List<Row> rows = new ArrayList<>();

    private CufileRows(GpuBench bench) {
        this.bench = bench;
    }

    static List<Row> all(GpuBench bench) {
        CufileRows cufile = new CufileRows(bench);
        cufile.hot();
        cufile.streams();
        cufile.disk(false);
        cufile.disk(true);
        cufile.gather();
        cufile.completion();
        cufile.start();
        cufile.load();
        cufile.rows.add(StagingGrid.ofOne(bench));
        cufile.rows.addAll(SeveralGpus.rows(bench));
        cufile.rows.addAll(ModelRows.rows(bench));
        cufile.rows.addAll(LatencyBySize.rows(bench));
        return cufile.rows;
    }

    private void loops(List<Factory> contenders) {
        for (int threads : new int[] {1, 4, 8, 12, 16}) {
            String order = "chunk=" + 4 * MIB + " buffers=1 threads=" + threads;
            contenders.add(bench.reader("pread loop, " + threads + " threads", "loop", order));
        }
        contenders.add(bench.reader(
                "ring of staging buffers in C, 12 threads", "loop", "chunk=" + 2 * MIB + " buffers=2 threads=12"));
        contenders.add(bench.reader(
                "ring of staging buffers in C, 8 threads, 4 MiB", "loop", "chunk=" + 4 * MIB + " buffers=2 threads=8"));
    }

    private void hot() {
        List<Factory> contenders = new ArrayList<>();
        contenders.add(bench.reader(LINK, "link", ""));
        cufilePeers(contenders);
        loops(contenders);
        ourReaders(contenders);
        String row = "hot file to GPU";
        rows.add(new Rounds(
                row,
                Unit.BYTES,
                contenders,
                List.of(
                        new Comparison(row + ": staged", DEFAULT, STAGED, STAGED, Kind.RATE, 50),
                        speed(row + ": staged / limit", STAGED, LINK, 0.9),
                        speed(row + ": staged / best libcufile", STAGED, BEST_CUFILE, 1.2),
                        new Comparison(
                                row + ": staged, against KvikIO's best elsewhere",
                                DEFAULT,
                                STAGED,
                                STAGED,
                                Kind.RATE,
                                KVIKIO_BEST),
                        speed(row + ": staged / best pread loop", STAGED, BEST_LOOP, 1),
                        speed(row + ": mapped, read again / limit", AGAIN, LINK, 0.95),
                        cost(row + ": mapped, read again / best pread loop, processor time", AGAIN, BEST_LOOP, 0.25),
                        cost(row + ": mapped, read again / staged, processor time", AGAIN, STAGED, 0.25),
                        speed(row + ": mapped, first read / staged", FIRST, STAGED, 1),
                        speed(row + ": default options, IMMUTABLE, first read / staged", PLAIN_FIRST, STAGED, 1),
                        speed(row + ": default options / best row", PLAIN, BEST_OF_OURS, 0.95),
                        speed(
                                row + ": default options, 16 MiB transfers / best row",
                                PLAIN_SEGMENTS,
                                BEST_OF_OURS,
                                0.95),
                        speed(row + ": default options, IMMUTABLE / best row", PLAIN_IMMUTABLE, BEST_OF_OURS, 0.95))));
    }

    private void cufilePeers(List<Factory> contenders) {
        for (int threads : new int[] {1, 4, 8, 16}) {
            contenders.add(bench.reader(
                    "cuFileRead 16 MiB, " + threads + " threads",
                    "calls",
                    "chunk=" + 16 * MIB + " threads=" + threads));
        }
        contenders.add(bench.reader("cuFileRead 1 MiB, 16 threads", "calls", "chunk=" + MIB + " threads=16"));
        contenders.add(bench.reader("cuFile batch, 64 x 1 MiB", "batch", "chunk=" + MIB + " threads=64"));
        contenders.add(streams(16, 4, 2));
        contenders.add(streams(4, 8, 2));
        contenders.add(streams(4, 16, 2));
    }

    /** Returns cuFile's stream calls; a depth of 0 queues all of them at once. */
    private Factory streams(long mib, int streams, int depth) {
        long some = Math.min(bench.sizes().hotBytes(), 1L << 30); // queueing all at once would take long
        String name = "cuFileReadAsync " + mib + " MiB, " + streams + " streams, "
                + (depth == 0 ? "all at once" : depth + " in each");
        return bench.reader(name, "streams", some, "chunk=" + mib * MIB + " threads=" + streams + " buffers=" + depth);
    }

    /** cuFile's stream calls by how much is queued at once, and Penstock's. */
    private void streams() {
        List<Factory> contenders = new ArrayList<>();
        for (int depth : new int[] {0, 1, 2, 4}) {
            contenders.add(streams(16, 4, depth));
            contenders.add(streams(4, 8, depth));
        }
        contenders.add(streams(16, 1, 2));
        contenders.add(streams(4, 16, 2));
        contenders.add(streams(1, 16, 4));
        contenders.add(reader(STREAM, "stream", bench.sizes().hotBytes(), false, FileOption.READ));
        String row = "hot file to GPU by streams";
        // Only by name: with many stream calls at once libcufile 1.15.1 has delivered wrong words, and a process that
        // continued after them has ended with a broken heap (docs/results/h200.md).
        rows.add(new OnlyByName(new Rounds(
                row,
                Unit.BYTES,
                contenders,
                List.of(speed(
                        row + ": Penstock / best cuFileReadAsync", STREAM, Rounds.BEST + "cuFileReadAsync", 0.95)))));
    }

    private void ourReaders(List<Factory> contenders) {
        long all = bench.sizes().hotBytes();
        contenders.add(reader(STAGED, "staged", all, false, FileOption.READ));
        contenders.add(reader(AGAIN, "mapped", all, false, FileOption.READ, FileOption.IMMUTABLE));
        contenders.add(reader(FIRST, "mapped", all, true, FileOption.READ, FileOption.IMMUTABLE));
        contenders.add(reader(PLAIN, "auto", all, false, FileOption.READ));
        contenders.add(reader(PLAIN_SEGMENTS, "auto", 16 * MIB, false, FileOption.READ));
        contenders.add(reader(PLAIN_IMMUTABLE, "auto", all, false, FileOption.READ, FileOption.IMMUTABLE));
        contenders.add(reader(PLAIN_FIRST, "auto", all, true, FileOption.READ, FileOption.IMMUTABLE));
        for (String path : List.of("sync", "batch", "stream")) {
            contenders.add(reader("Penstock " + path, path, all, false, FileOption.READ));
        }
    }

    private Factory reader(String name, String path, long segmentBytes, boolean fresh, FileOption... opened) {
        return () -> new GpuRead(
                name,
                new GpuRead.Plan(
                        fresh ? bench.unread() : bench.hot(),
                        bench.sizes().hotBytes(),
                        segmentBytes,
                        bench.options(path),
                        Set.of(opened),
                        fresh));
    }

    private void disk(boolean write) {
        String row = write ? "GPU to O_DIRECT file" : "O_DIRECT file to GPU";
        List<Factory> contenders = new ArrayList<>();
        for (int threads : new int[] {1, 4, 16}) {
            String order = "direct=1 chunk=" + 4 * MIB + " threads=" + threads;
            String raw = "disk, " + threads + " threads";
            String calls = (write ? "cuFileWrite, " : "cuFileRead, ") + threads + " threads";
            contenders.add(write ? bench.writer(raw, "disk", order) : diskReader(raw, "disk", order));
            contenders.add(write ? bench.writer(calls, "calls", order) : diskReader(calls, "calls", order));
        }
        for (String path : List.of("auto", "staged", "sync")) {
            String name = "Penstock " + path;
            contenders.add(
                    write
                            ? () -> new GpuWrite(name, bench, bench.options(path))
                            : () -> new GpuRead(name, diskPlan(bench.options(path))));
        }
        rows.add(new Rounds(
                row,
                Unit.BYTES,
                contenders,
                List.of(
                        speed(row + ": default options / disk", "Penstock auto", Rounds.BEST + "disk", 0.95),
                        speed(row + ": default options / cuFile", "Penstock auto", BEST_CUFILE, 1),
                        speed(row + ": staged / disk", "Penstock staged", Rounds.BEST + "disk", 0.95),
                        speed(row + ": staged / cuFile", "Penstock staged", BEST_CUFILE, 1))));
    }

    private Factory diskReader(String name, String variant, String order) {
        String check = variant.equals("disk") ? "" : "same";
        return () -> new PeerContender(
                name,
                bench.peers(),
                variant + " hot=" + bench.hot() + " bytes=" + bench.sizes().diskBytes() + " " + order,
                check,
                true);
    }

    private GpuRead.Plan diskPlan(Options options) {
        long bytes = bench.sizes().diskBytes();
        return new GpuRead.Plan(bench.hot(), bytes, bytes, options, Set.of(FileOption.READ, FileOption.DIRECT), false);
    }

    private void gather() {
        int blocks = bench.sizes().blocks();
        String row = "gather of 4 KiB blocks";
        String order = " chunk=" + GpuGather.BLOCK + " blocks=" + blocks;
        List<Factory> contenders = new ArrayList<>();
        contenders.add(
                bench.peer("cuFileRead for each block, 16 threads", "gather-calls threads=16" + order, "gather"));
        contenders.add(bench.peer("batches of 64 blocks", "gather-batch threads=64" + order, "gather"));
        for (String path : List.of("auto", "staged")) {
            contenders.add(() -> new GpuGather("Penstock " + path, bench, bench.options(path), FileOption.READ));
        }
        contenders.add(() -> new GpuGather(
                "Penstock mapped", bench, bench.options("mapped"), FileOption.READ, FileOption.IMMUTABLE));
        rows.add(new Rounds(
                row,
                Unit.BLOCKS,
                contenders,
                List.of(
                        speed(
                                row + " / cuFileRead for each",
                                "Penstock auto",
                                "cuFileRead for each block, 16 threads",
                                5),
                        speed(row + " / cuFile batch", "Penstock auto", "batches of 64 blocks", 3))));
    }

    private void completion() {
        String row = "completion on the device to onNext";
        String order = " chunk=4096 blocks=" + SmallReads.count(bench);
        List<Factory> contenders = new ArrayList<>();
        List<Comparison> comparisons = new ArrayList<>();
        contenders.add(bench.peer("bare poll", "gated-poll" + order, ""));
        contenders.add(bench.peer("bare copy and poll, from submit", "poll" + order, ""));
        contenders.add(bench.peer("bare pread, copy and poll", "small-reads" + order, ""));
        for (Mode mode : List.of(Mode.DIRECT, Mode.DEFAULT)) {
            Options staged = spinning("staged", mode);
            contenders.add(small("Penstock staged, in the stream, " + mode, staged, From.STREAM));
            contenders.add(small("Penstock staged, behind a fence, " + mode, staged, From.FENCE));
            contenders.add(small("Penstock staged, from subscribe, " + mode, staged, From.SUBSCRIBE));
            Options mapped = spinning("mapped", mode);
            contenders.add(small("Penstock mapped, in the stream, " + mode, mapped, From.STREAM, FileOption.IMMUTABLE));
            contenders.add(small("Penstock mapped, behind a fence, " + mode, mapped, From.FENCE, FileOption.IMMUTABLE));
            double goal = mode == Mode.DIRECT ? 5_000 : 40_000;
            for (String variant : List.of("staged, in the stream", "mapped, in the stream", "staged, behind a fence")) {
                String ours = "Penstock " + variant + ", " + mode;
                comparisons.add(
                        new Comparison(row + ": " + variant, mode.toString(), ours, "bare poll", Kind.EXTRA, goal));
            }
        }
        Options untuned = bench.options("staged");
        contenders.add(small("Penstock staged, in the stream, default options", untuned, From.STREAM));
        contenders.add(small("Penstock staged, behind a fence, default options", untuned, From.FENCE));
        contenders.add(small("Penstock staged, from subscribe, default options", untuned, From.SUBSCRIBE));
        comparisons.add(untuned(row, "in the stream", 15_000));
        comparisons.add(untuned(row, "behind a fence", 25_000));
        rows.add(new Rounds(row, Unit.MICROSECONDS, contenders, comparisons));
    }

    private static Comparison untuned(String row, String variant, double goal) {
        String ours = "Penstock staged, " + variant + ", default options";
        return new Comparison(row + ": staged, " + variant, DEFAULT + " options", ours, "bare poll", Kind.EXTRA, goal);
    }

    private Options spinning(String path, Mode mode) {
        return GpuBench.delivering(bench.options(path).with(StagingOptions.SPIN_MICROS, SPIN_MICROS), mode);
    }

    private Factory small(String name, Options options, From from, FileOption... more) {
        Set<FileOption> opened = EnumSet.of(FileOption.READ, more);
        return () -> new SmallReads(name, bench, options, from, opened.toArray(new FileOption[0]));
    }

    /** A model is loaded once: from the start of a process to the last byte, and the load alone. */
    private void load() {
        String row = "process start to last byte";
        String ours = "JVM, default options";
        String c = "C, ring of 12 threads";
        rows.add(new Rounds(
                row,
                Unit.MILLISECONDS,
                List.of(
                        () -> StartContender.whole(ours, bench),
                        () -> StartContender.wholeC(c, bench),
                        () -> StartContender.whole(ours, bench).ofRead(),
                        () -> StartContender.wholeC(c, bench).ofRead()),
                List.of(new Comparison(
                        row + ": the read / C", DEFAULT, ours + ", the read", c + ", the read", Kind.TIME, 1.05))));
    }

    /** The start as a user sees it, and without the start of the JVM itself. */
    private void start() {
        String row = "process start to first byte";
        String staged = "-Dpenstock.cufile.path=staged";
        String archived = "JVM with an archive of classes, staged";
        String driver = "C, cuFileDriverOpen";
        String main = ", from main";
        rows.add(new Rounds(
                row,
                Unit.MILLISECONDS,
                List.of(
                        () -> StartContender.jvm("JVM, staged", bench, staged),
                        () -> StartContender.archived(archived, bench, staged),
                        () -> StartContender.archived(archived, bench, staged).fromMain(),
                        () -> StartContender.jvm("JVM, default options", bench),
                        () -> StartContender.jvm("JVM, sync (cuFileDriverOpen)", bench, "-Dpenstock.cufile.path=sync"),
                        () -> StartContender.c("C, pread and copy", bench, "own"),
                        () -> StartContender.c(driver, bench, "cufile"),
                        () -> StartContender.c(driver, bench, "cufile").fromMain()),
                List.of(
                        time(row + ": ours / cuFileDriverOpen in C", archived, driver),
                        time(row + ": ours / cuFileDriverOpen in C, both from main", archived + main, driver + main),
                        time(row + ": ours / cuFileDriverOpen in Java", "JVM, staged", "JVM, sync (cuFileDriverOpen)"),
                        time(row + ": ours without the archive / cuFileDriverOpen in C", "JVM, staged", driver),
                        time(row + ": default options / cuFileDriverOpen in C", "JVM, default options", driver))));
    }

    private static Comparison speed(String row, String ours, String peer, double goal) {
        return new Comparison(row, DEFAULT, ours, peer, Kind.SPEED, goal);
    }

    private static Comparison cost(String row, String ours, String peer, double goal) {
        return new Comparison(row, DEFAULT, ours, peer, Kind.COST, goal);
    }

    private static Comparison time(String row, String ours, String peer) {
        return new Comparison(row, DEFAULT, ours, peer, Kind.TIME, 0.3);
    }
}
