// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A block device over a file, until it is closed. The test is skipped where none can be made. */
record LoopDevice(Path path) implements AutoCloseable {

    private static final String COMMAND = "/sbin/losetup";

    static LoopDevice of(Path file) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of(COMMAND)), "there is no " + COMMAND);
        Process made = new ProcessBuilder(COMMAND, "--find", "--show", file.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String name = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assumeTrue(made.waitFor() == 0 && !name.isEmpty(), "losetup makes no block device: it needs root");
        return new LoopDevice(Path.of(name));
    }

    @Override
    public void close() throws IOException {
        Process detach = new ProcessBuilder(COMMAND, "--detach", path.toString())
                .inheritIO()
                .start();
        int code = detach.onExit().join().exitValue();
        if (code != 0) {
            throw new IOException("losetup --detach " + path + " ended with " + code);
        }
    }
}
