// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies in a JVM in which JNA cannot be used, as in a runtime image without java.logging. */
class CopyWithoutNativeAccessTest {

    @TempDir
    Path folder;

    private byte[] copied(Path source) throws IOException, InterruptedException {
        Path copy = folder.resolve("copy");
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--limit-modules=java.base,java.xml,jdk.unsupported",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Penstock.class.getName(),
                        "copy",
                        "--force",
                        source.toString(),
                        copy.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(said).isZero();
        assertThat(said).contains("backend host");
        return Files.readAllBytes(copy);
    }

    @Test
    void filesArriveWhole() throws Exception {
        byte[] content = new byte[100_000];
        new Random(1).nextBytes(content);
        assertThat(copied(Files.write(folder.resolve("content"), content))).isEqualTo(content);
        assertThat(copied(Files.createFile(folder.resolve("empty")))).isEmpty();
    }

    @Test
    void aFileThatStatesNoLengthIsReadToItsEnd() throws Exception {
        Path unstated = Path.of("/proc/filesystems"); // the same at each reading
        assumeTrue(Files.isReadable(unstated), "there is no " + unstated);
        assertThat(copied(unstated)).isEqualTo(Files.newInputStream(unstated).readAllBytes());
    }
}
