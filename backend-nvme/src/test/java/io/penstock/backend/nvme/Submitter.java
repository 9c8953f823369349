// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.testing.CompiledFakes;
import io.penstock.tck.Require;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that submits to queue pairs ({@code src/test/c/submitter.c}). It maps the file that is the memory, in which
 * a bus address is an offset.
 */
final class Submitter implements AutoCloseable {

    private static final CompiledFakes COMPILED = new CompiledFakes("backend-nvme");

    private final Process process;
    private final BufferedReader output;

    private Submitter(Process process) {
        this.process = process;
        output = process.inputReader();
    }

    /** Skips the test where there is no compiler, or the bus cannot have native memory. */
    static void require() {
        Require.backend("fakes", NativeAccess.refusal() == null ? null : "" + NativeAccess.refusal());
        Require.backend("fakes", CompiledFakes.unavailable());
    }

    /** Returns a program of this module, compiled. */
    static Path program(String name) throws IOException {
        return COMPILED.folder("programs", List.of("-O2"), (folder, flags) -> {
                    for (String each : List.of("submitter", "controller")) {
                        List<String> command = CompiledFakes.command(flags, folder.resolve(each));
                        command.add(COMPILED.sources().resolve(each + ".c").toString());
                        CompiledFakes.run(command);
                    }
                })
                .resolve(name);
    }

    /** Returns the argument that tells the submitter of a queue pair. */
    static String argument(QueuePairHandle pair) {
        return argument(pair, pair.doorbell().busAddress());
    }

    /** As the other, with a doorbell at another address. */
    static String argument(QueuePairHandle pair, long doorbell) {
        return "pair=" + pair.submissionQueue().busAddress() + ","
                + pair.completionQueue().busAddress() + "," + doorbell + "," + pair.entries();
    }

    /** Starts a program on the memory with arguments of {@code NAME=VALUE}. */
    static Submitter start(Path program, Path memory, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(program.toString(), memory.toString()));
        command.addAll(arguments);
        return new Submitter(
                new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    /** Returns the next line that it prints, null at its end. */
    String line() throws IOException {
        return output.readLine();
    }

    /** Ends it by SIGKILL. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
