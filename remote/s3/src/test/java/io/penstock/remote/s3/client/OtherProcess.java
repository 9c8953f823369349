// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A process with an environment of its own, which is read once. */
final class OtherProcess {

    private OtherProcess() {}

    /** Runs a class until its end, which must be a success, and returns what it has printed. */
    static String output(Class<?> program, Consumer<Map<String, String>> environment, String... options)
            throws IOException, InterruptedException {
        return output(List.of(), program, environment, options);
    }

    /** As above, by a command that starts another. */
    static String output(
            List<String> by, Class<?> program, Consumer<Map<String, String>> environment, String... options)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(by);
        command.addAll(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                program.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        environment.accept(builder.environment());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
