// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The results of JMH for {@link OperationCost}: bytes allocated and time per operation. */
final class CostRow implements Row {

    private static final double SUBMIT_BYTES = 200;
    private static final double GATHER_BYTES = 0.5; // none per block; some 800 per transfer, here of 8192 blocks

    private final Path file;

    CostRow(Path file) {
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
        List<io.penstock.benchmarks.Result> results = new ArrayList<>();
        for (RunResult run : new Runner(options).run()) {
            results.add(result(run, busy));
        }
        return Report.of(results);
    }

    private static io.penstock.benchmarks.Result result(RunResult run, boolean busy) {
        String method = run.getPrimaryResult().getLabel();
        Result<?> bytes = run.getSecondaryResults().entrySet().stream()
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
        return io.penstock.benchmarks.Result.of(
                "own cost: bytes allocated, " + method, mode, values, goal, false, "B", detail, busy);
    }
}
