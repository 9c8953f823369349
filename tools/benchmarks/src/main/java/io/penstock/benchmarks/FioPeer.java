// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * fio with io_uring, registered files and fixed buffers, one job: the reference. It runs for its time after its own
 * start, which is not counted. Its buffers cannot be checked; it must report no error.
 */
final class FioPeer implements Contender {

    private static final int MOST_BATCH = 32;

    private static final double MICRO = 1e3;

    private final String pattern;
    private final List<String> command = new ArrayList<>();

    FioPeer(Workload workload) {
        this(workload, workload.write() ? "randwrite" : "randread");
        // Without --invalidate=0 it would drop the page cache first.
        command.addAll(List.of("--size=" + TestFile.BYTES, "--norandommap", "--invalidate=0"));
    }

    private FioPeer(Workload workload, String pattern) {
        this.pattern = pattern;
        int batch = Math.min(MOST_BATCH, Math.max(1, workload.depth() / 4));
        command.addAll(List.of(
                "fio",
                "--name=penstock",
                "--filename=" + workload.file(),
                "--rw=" + pattern,
                "--bs=" + workload.blockBytes(),
                "--iodepth=" + workload.depth(),
                "--iodepth_batch_submit=" + batch,
                "--iodepth_batch_complete_max=" + batch,
                "--direct=" + (workload.direct() ? 1 : 0),
                "--ioengine=io_uring",
                "--registerfiles",
                "--fixedbufs",
                "--randrepeat=0",
                "--fallocate=none",
                "--time_based",
                "--output-format=json"));
    }

    /** Creates a contender that appends a block, syncs, and so on, to a new file. */
    static FioPeer appending(Workload workload) {
        FioPeer fio = new FioPeer(workload, "write");
        fio.command.addAll(List.of("--size=" + TestFile.BYTES, "--fdatasync=1", "--unlink=1"));
        return fio;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        String json = output(nanos, "--gtod_reduce=1");
        long millis = (long) number(json, "\"job_runtime\" : ");
        double cpu = number(json, "\"usr_cpu\" : ") + number(json, "\"sys_cpu\" : ");
        long reads = (long) number(json, "\"read\" : \\{.*?\"total_ios\" : ");
        long writes = (long) number(json, "\"write\" : \\{.*?\"total_ios\" : ");
        return new Measure(reads + writes, millis * 1_000_000, (long) (cpu / 100 * millis * 1e6));
    }

    /** From a submission to its completion; of a write and the sync behind it, it only knows each. */
    @Override
    public @Nullable Latency latency(long nanos) throws Exception {
        if (pattern.equals("write")) {
            return null;
        }
        String json = output(nanos, "--lat_percentiles=1", "--clat_percentiles=0", "--percentile_list=50:99:99.9");
        return latency(json, pattern.substring("rand".length()));
    }

    /** Returns the percentiles of "read" or "write" in fio's output. */
    static Latency latency(String json, String kind) throws IOException {
        String of = '"' + kind + "\" : \\{.*?\"lat_ns\" : \\{.*?\"percentile\" : \\{[^}]*?";
        return new Latency(
                number(json, of + "\"50.000000\" : ") / MICRO,
                number(json, of + "\"99.000000\" : ") / MICRO,
                number(json, of + "\"99.900000\" : ") / MICRO);
    }

    private String output(long nanos, String... more) throws Exception {
        List<String> timed = new ArrayList<>(command);
        timed.addAll(List.of(more));
        timed.add("--runtime=" + nanos / 1_000_000 + "ms");
        Process fio = new ProcessBuilder(timed).redirectErrorStream(true).start();
        String json = new String(fio.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (fio.waitFor() != 0 || number(json, "\"error\" : ") != 0) {
            throw new IOException("fio failed: " + json);
        }
        return json;
    }

    private static double number(String json, String before) throws IOException {
        Matcher found = Pattern.compile(before + "([0-9.]+)", Pattern.DOTALL).matcher(json);
        if (!found.find()) {
            throw new IOException("no " + before + " in the output of fio: " + json);
        }
        return Double.parseDouble(found.group(1));
    }
}
