// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * The cost of one hot read of 4 KiB, 128 in flight. Transfers are created beforehand: only the library's own cost is
 * counted. (A caller that creates each one anew adds the 72 bytes of a transfer and its file region.)
 */
@State(Scope.Benchmark)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class OperationCost {

    static final String FILE = "benchmarks.file";

    private static final int OPERATIONS = 1 << 17;
    private static final int DEPTH = 128;
    private static final int BLOCK = 4096;
    private static final int BLOCKS_EACH = 8192;
    private static final int READS_MADE = 1 << 13;
    private static final int GATHERS_MADE = 16;

    /** The delivery mode. */
    @Param({"DIRECT", "DEFAULT"})
    public String mode = "DIRECT";

    private Backend backend;
    private Transfer[] reads;
    private Transfer[] gathers;
    private int round;

    /** Creates an instance; for JMH. */
    public OperationCost() {}

    /** Opens the backend and creates the transfers. */
    @Setup(Level.Trial)
    public void open() {
        Workload workload = new Workload(Path.of(System.getProperty(FILE)), BLOCK, DEPTH, false, false);
        backend = Mode.valueOf(mode).open(PenstockHost.QUEUE_DEPTH);
        StorageFile file = backend.openFile(workload.file()).block();
        DeviceBuffer buffer = backend.allocate((long) DEPTH * BLOCK).block();
        reads = new Transfer[READS_MADE];
        for (int i = 0; i < reads.length; i++) {
            BufferRegion region = buffer.region((long) i % DEPTH * BLOCK, BLOCK);
            reads[i] = Transfer.read(file.region(workload.offset(0), BLOCK), region);
        }
        DeviceBuffer target = backend.allocate((long) 2 * BLOCKS_EACH * BLOCK).block();
        gathers = new Transfer[GATHERS_MADE];
        for (int i = 0; i < gathers.length; i++) {
            long[] offsets = ThreadLocalRandom.current()
                    .longs(BLOCKS_EACH, 0, workload.blocks())
                    .map(block -> block * BLOCK)
                    .toArray();
            gathers[i] = Transfer.gather(
                    file,
                    offsets,
                    BLOCK,
                    target.region((long) i % 2 * BLOCKS_EACH * BLOCK, (long) BLOCKS_EACH * BLOCK));
        }
    }

    /** Closes the backend. */
    @TearDown(Level.Trial)
    public void close() {
        backend.close();
    }

    /** A read, through {@code submit(Publisher)}. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long submit() throws Exception {
        return run(reads, OPERATIONS, DEPTH);
    }

    /** A read, as one block of a gather. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long gather() throws Exception {
        return run(gathers, OPERATIONS / BLOCKS_EACH, 2);
    }

    private long run(Transfer[] transfers, int count, int inFlight) throws Exception {
        int[] published = {0};
        TransferSource[] self = new TransferSource[1];
        TransferSource source = new TransferSource(inFlight, staging -> {
            if (++published[0] == count) {
                self[0].end();
            }
            return transfers[round++ & (transfers.length - 1)];
        });
        self[0] = source;
        CompletionSink sink = new CompletionSink(transfers[0].length(), completion -> source.give(0));
        backend.submit(source, SubmitOptions.DEFAULT.inFlight(inFlight)).subscribe(sink);
        return sink.await();
    }

    /** The results of JMH for {@link OperationCost}: bytes allocated and time per operation. */
    static final class Allocations implements Row {

        private static final double SUBMIT_BYTES = 200;
        private static final double GATHER_BYTES = 0.5; // none per block; some 800 per transfer, here of 8192 blocks

        private final Path file;

        Allocations(Path file) {
            this.file = file;
        }

        @Override
        public String name() {
            return "own cost: bytes";
        }

        @Override
        public Report run(Settings settings, boolean busy) throws Exception {
            OptionsBuilder options = new OptionsBuilder();
            options.include(OperationCost.class.getName())
                    .forks(1)
                    .warmupIterations(2)
                    .warmupTime(TimeValue.seconds(1))
                    .measurementIterations(settings.pairs())
                    .measurementTime(TimeValue.milliseconds(settings.nanos() / 2_000_000))
                    .addProfiler(GCProfiler.class)
                    .verbosity(VerboseMode.SILENT)
                    .shouldFailOnError(true)
                    .jvmArgsAppend("-D" + OperationCost.FILE + "=" + file);
            List<Result> results = new ArrayList<>();
            for (RunResult run : new Runner(options).run()) {
                results.add(result(run, busy));
            }
            return Report.of(results);
        }

        private static Result result(RunResult run, boolean busy) {
            String method = run.getPrimaryResult().getLabel();
            org.openjdk.jmh.results.Result<?> bytes = run.getSecondaryResults().entrySet().stream()
                    .filter(entry -> entry.getKey().endsWith("gc.alloc.rate.norm"))
                    .findFirst()
                    .orElseThrow()
                    .getValue();
            double[] values = {
                bytes.getStatistics().getMin(),
                bytes.getScore(),
                bytes.getStatistics().getMax()
            };
            double goal = method.equals("gather") ? GATHER_BYTES : SUBMIT_BYTES;
            String detail = String.format(
                    Locale.ROOT,
                    "JMH: %.0f ± %.0f ns, kernel included",
                    run.getPrimaryResult().getScore(),
                    run.getPrimaryResult().getScoreError());
            String mode = run.getParams().getParam("mode").toLowerCase(Locale.ROOT);
            return Result.of("own cost: bytes allocated, " + method, mode, values, goal, false, "B", detail, busy);
        }
    }
}
