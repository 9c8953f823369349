// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.SubmitOptions;
import io.penstock.benchmarks.Comparison.Kind;
import io.penstock.benchmarks.GlPeer.Variant;
import io.penstock.benchmarks.Rounds.Factory;
import io.penstock.engine.spi.staging.StagingOptions;
import java.util.ArrayList;
import java.util.List;

/** The rows of the gl backend and their goals. */
final class GlRows {

    private static final String DEFAULT = Mode.DEFAULT.toString();
    private static final String PATH = "penstock.gl.path";
    private static final int MIB = 1 << 20;
    private static final int DEPTH = 32;
    private static final int SPIN_MICROS = 5000; // longer than a drawing takes
    private static final String SEGMENTS = "Penstock, 1 MiB transfers";
    private static final String WHOLE = "Penstock, one transfer";
    private static final String STAGED = "Penstock staged, one transfer";
    private static final String STAGED_SEGMENTS = "Penstock staged, 1 MiB transfers";
    private static final String STAGED_BUFFERS = "Penstock staged, 4 MiB transfers";

    private final GlBench bench;
    private final List<Row> rows = new ArrayList<>();

    private GlRows(GlBench bench) {
        this.bench = bench;
    }

    static List<Row> all(GlBench bench) {
        GlRows gl = new GlRows(bench);
        gl.hot();
        gl.inFlight();
        gl.completion();
        return gl.rows;
    }

    private void hot() {
        String row = "hot file to buffer, 1 MiB segments";
        int many = SubmitOptions.DEFAULT.inFlight();
        List<Factory> contenders = new ArrayList<>();
        contenders.add(reader(SEGMENTS, Options.none(), MIB, many));
        contenders.add(reader(WHOLE, Options.none(), bench.bytes(), many));
        contenders.add(reader(STAGED, staged(), bench.bytes(), many));
        for (Variant variant : List.of(Variant.NAIVE, Variant.MAPPED, Variant.PREAD)) {
            contenders.add(peer(variant));
        }
        List<Comparison> comparisons = new ArrayList<>();
        comparisons.add(speed(row + " / glBufferSubData", SEGMENTS, Variant.NAIVE, 1.5));
        comparisons.add(speed(row + " / a map per transfer", SEGMENTS, Variant.MAPPED, 1));
        comparisons.add(speed("hot file to buffer, one transfer / glBufferSubData", WHOLE, Variant.NAIVE, 1.5));
        if (!bench.isHardware()) {
            comparisons.add(speed(row + " / pread alone", SEGMENTS, Variant.PREAD, 0.95));
        }
        rows.add(new Rounds(row, Unit.BYTES, contenders, comparisons));
    }

    /** If the processor renders, a copy is its own work and not a limit: the figures are reported but not compared. */
    private void inFlight() {
        String row = "hot file to buffer, staged, 32 in flight";
        List<Comparison> comparisons = bench.isHardware()
                ? List.of(
                        speed(row + ", of 1 MiB / limit", STAGED_SEGMENTS, Variant.PINNED, 0.8),
                        speed(row + ", of 4 MiB / limit", STAGED_BUFFERS, Variant.PINNED, 0.8))
                : List.of();
        List<Factory> contenders = List.of(
                reader(STAGED_SEGMENTS, staged(), MIB, DEPTH),
                reader(STAGED_BUFFERS, staged(), 4 * MIB, DEPTH),
                peer(Variant.PINNED));
        rows.add(new Rounds(row, Unit.BYTES, contenders, comparisons));
    }

    private Factory reader(String name, Options options, long segmentBytes, int inFlight) {
        BufferRead.Plan plan = new BufferRead.Plan(bench.hot(), bench.bytes(), segmentBytes, inFlight);
        return () -> {
            Backend backend = bench.application().backend(options);
            return new BufferRead(name, backend, new GlMemoryCheck(), plan);
        };
    }

    private Factory peer(Variant variant) {
        return () -> new GlPeer(variant, bench.hot(), bench.bytes(), MIB);
    }

    private void completion() {
        String row = "completion on the device to onNext";
        List<Factory> contenders = new ArrayList<>();
        List<Comparison> comparisons = new ArrayList<>();
        contenders.add(() -> new GlWait(bench.application(), true, bench.smallReads()));
        // A device that is the processor uses it itself.
        Options staged = staged().with(StagingOptions.SPIN_MICROS, bench.isHardware() ? SPIN_MICROS : 0);
        for (Mode mode : List.of(Mode.DIRECT, Mode.DEFAULT)) {
            Options options =
                    mode == Mode.DEFAULT ? staged : staged.with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
            String ours = "Penstock, behind the drawing, " + mode;
            contenders.add(small(ours, options, false));
            comparisons.add(extra(row, mode, ours, GlWait.COPY));
        }
        contenders.add(() -> new GlWait(bench.application(), false, bench.smallReads()));
        String fence = "Penstock, the drawing's fence";
        contenders.add(small(fence, staged, true));
        comparisons.add(extra(row + ": a fence", Mode.DEFAULT, fence, GlWait.FENCE));
        rows.add(new Rounds(row, Unit.MICROSECONDS, contenders, comparisons));
    }

    private static Options staged() {
        return Options.none().with(PATH, "staged");
    }

    private Factory small(String name, Options options, boolean fenceOnly) {
        return () -> new GlSmallReads(
                name,
                bench.application().backend(options),
                new GlSmallReads.Plan(fenceOnly, bench.smallReads(), bench.hot(), bench.bytes()));
    }

    private static Comparison speed(String row, String ours, Variant peer, double goal) {
        return new Comparison(row, DEFAULT, ours, peer.title, Kind.SPEED, goal);
    }

    private static Comparison extra(String row, Mode mode, String ours, String peer) {
        return new Comparison(row, mode.toString(), ours, peer, Kind.EXTRA, 10_000);
    }
}
