// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A program from its start until it says that the first byte is there. */
final class StartContender implements Contender {

    private interface Start {
        Process begin() throws IOException;
    }

    private final String name;
    private final Start start;
    private String last = "";

    private StartContender(String name, Start start) {
        this.name = name;
        this.start = start;
    }

    /** Makes a JVM. */
    static StartContender jvm(String name, GpuBench bench, String... options) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), FirstByte.class.getName()));
        command.add(bench.hot().toString());
        return new StartContender(name, () -> {
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
            builder.environment().putAll(GpuBench.libraries());
            return builder.start();
        });
    }

    /** Makes a program of the C peers. */
    static StartContender c(String name, GpuBench bench, String way) {
        return new StartContender(
                name, () -> bench.peers().start("first", way, bench.hot().toString()));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        long begin = System.nanoTime();
        Process process = start.begin();
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = said.readLine();
            long took = System.nanoTime() - begin;
            if (line == null || !line.startsWith("first byte")) {
                throw new IOException(name + " says " + line);
            }
            last = line;
            return new Measure(1, took, 0);
        } finally {
            process.waitFor();
        }
    }

    @Override
    public void close() {
        System.out.println(name + ": " + last);
    }
}
