// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.SubmitOptions;
import io.penstock.benchmarks.Comparison.Kind;
import io.penstock.benchmarks.OpenClPeer.Variant;
import io.penstock.benchmarks.Rounds.Factory;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.ArrayList;
import java.util.List;

/** The rows of the opencl-ssg backend and their goals. */
final class OpenClRows {

    private static final String DEFAULT = Mode.DEFAULT.toString();
    private static final int MIB = 1 << 20;
    private static final int SPIN_MICROS = 2000; // longer than a gate stays shut
    private static final String SEGMENTS = "Penstock, 1 MiB transfers";
    private static final String WHOLE = "Penstock, one transfer";
    private static final String STAGED = "Penstock staged, one transfer";

    private final OpenClBench bench;
    private final List<Row> rows = new ArrayList<>();

    private OpenClRows(OpenClBench bench) {
        this.bench = bench;
    }

    static List<Row> all(OpenClBench bench) {
        OpenClRows opencl = new OpenClRows(bench);
        opencl.hot();
        opencl.inFlight(4);
        opencl.inFlight(64);
        opencl.completion();
        return opencl.rows;
    }

    private void hot() {
        String row = "hot file to buffer, 1 MiB segments";
        List<Factory> contenders = new ArrayList<>();
        contenders.add(reader(SEGMENTS, Options.none(), MIB));
        contenders.add(reader(WHOLE, Options.none(), bench.bytes()));
        contenders.add(reader(STAGED, Options.none().with("penstock.opencl.path", "staged"), bench.bytes()));
        List<Comparison> comparisons = new ArrayList<>();
        for (Variant variant : Variant.values()) {
            contenders.add(() ->
                    new OpenClPeer(variant, OpenClBench.backend(Options.none()), bench.hot(), bench.bytes(), MIB));
        }
        comparisons.add(speed(row + " / naive", SEGMENTS, Variant.NAIVE, 1.5));
        comparisons.add(speed(row + " / FileChannel into a map", SEGMENTS, Variant.MAPPED, 1));
        comparisons.add(speed("hot file to buffer, one transfer / naive", WHOLE, Variant.NAIVE, 1.5));
        if (bench.isHardware()) {
            comparisons.add(speed("hot file to buffer, one transfer / limit", WHOLE, Variant.PINNED, 0.85));
            comparisons.add(speed(row + " / limit", SEGMENTS, Variant.PINNED, 0.85));
        } else {
            comparisons.add(speed(row + " / pread alone", SEGMENTS, Variant.PREAD, 0.95));
        }
        rows.add(new Rounds(row, Unit.BYTES, contenders, comparisons));
    }

    private Factory reader(String name, Options options, long segmentBytes) {
        BufferRead.Plan plan =
                new BufferRead.Plan(bench.hot(), bench.bytes(), segmentBytes, SubmitOptions.DEFAULT.inFlight());
        return () -> {
            Backend backend = OpenClBench.backend(options);
            return new BufferRead(name, backend, new OpenClMemory(backend), plan);
        };
    }

    private void inFlight(int kib) {
        String row = "SSG fake, " + kib + " KiB reads of 1 ms each";
        String many = "32 in flight";
        String one = "1 in flight";
        rows.add(new Rounds(
                row,
                List.of(bench.ssg(many, 32, kib << 10), bench.ssg(one, 1, kib << 10)),
                List.of(new Comparison(row + ": 32 in flight / 1", DEFAULT, many, one, Kind.SPEED, 20))));
    }

    private void completion() {
        String row = "completion on the device to onNext";
        List<Factory> contenders = new ArrayList<>();
        List<Comparison> comparisons = new ArrayList<>();
        contenders.add(() -> new OpenClWait(OpenClBench.backend(Options.none()), bench.smallReads()));
        for (Mode mode : List.of(Mode.DIRECT, Mode.DEFAULT)) {
            // A device that is the processor uses it itself.
            Options options = Options.none()
                    .with("penstock.opencl.path", "staged")
                    .with(StagingOptions.SPIN_MICROS, bench.isHardware() ? SPIN_MICROS : 0);
            Options delivering = mode == Mode.DEFAULT
                    ? options
                    : options.with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
            String ours = "Penstock, in the queue, " + mode;
            contenders.add(small(ours, delivering, false));
            comparisons.add(extra(row, mode, ours, mode == Mode.DIRECT ? 5_000 : 40_000));
        }
        String fence = "Penstock, a fence";
        contenders.add(small(fence, Options.none(), true));
        comparisons.add(extra(row + ": a fence", Mode.DEFAULT, fence, 5_000));
        rows.add(new Rounds(row, Unit.MICROSECONDS, contenders, comparisons));
    }

    private Factory small(String name, Options options, boolean fenceOnly) {
        return () -> new OpenClSmallReads(
                name,
                OpenClBench.backend(options),
                new OpenClSmallReads.Plan(fenceOnly, bench.smallReads(), bench.hot(), bench.bytes()));
    }

    private static Comparison speed(String row, String ours, Variant peer, double goal) {
        return new Comparison(row, DEFAULT, ours, peer.title, Kind.SPEED, goal);
    }

    private static Comparison extra(String row, Mode mode, String ours, double goal) {
        return new Comparison(row, mode.toString(), ours, "clWaitForEvents on a thread", Kind.EXTRA, goal);
    }
}
