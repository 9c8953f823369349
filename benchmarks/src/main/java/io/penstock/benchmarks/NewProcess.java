// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@link PenstockSubmit} in a process of its own for each run, with a warm-up as long: what a command does that runs once. */
final class NewProcess implements Contender {

    private final Workload workload;

    NewProcess(Workload workload) {
        this.workload = workload;
    }

    /** Runs in that process. */
    static final class Run {

        /** Arguments: the file, the bytes of a block, how many are in flight, and the nanoseconds. */
        public static void main(String[] arguments) throws Exception {
            long nanos = Long.parseLong(arguments[3]);
            Workload work = new Workload(
                    Path.of(arguments[0]),
                    Integer.parseInt(arguments[1]),
                    Integer.parseInt(arguments[2]),
                    false,
                    false);
            PenstockSubmit contender = new PenstockSubmit(work, Mode.DEFAULT);
            contender.run(nanos);
            contender.verify();
            Measure measure = contender.run(nanos);
            contender.verify();
            System.out.println(measure.operations() + " " + measure.nanos() + " " + measure.cpuNanos());
            contender.close();
        }
    }

    @Override
    public String name() {
        return "submit, in a new process";
    }

    @Override
    public Measure run(long nanos) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Run.class.getName()));
        command.addAll(
                List.of(workload.file().toString(), "" + workload.blockBytes(), "" + workload.depth(), "" + nanos));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String report = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("it failed: " + report);
        }
        String[] values = report.strip().split(" ");
        return new Measure(Long.parseLong(values[0]), Long.parseLong(values[1]), Long.parseLong(values[2]));
    }
}
