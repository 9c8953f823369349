// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.ffi.TerminalWidth;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** On a terminal, which {@code script} of util-linux makes. */
@EnabledOnOs(OS.LINUX)
@Tag("slow")
class TerminalTest {

    private static final Path SCRIPT = Path.of("/usr/bin/script");

    @TempDir
    Path folder;

    /** Prints how wide standard error is. */
    static final class Width {
        private Width() {}

        public static void main(String[] arguments) {
            System.out.println("width " + TerminalWidth.of(2));
        }
    }

    private static String onATerminal(String settings, Class<?> program, String argument)
            throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(SCRIPT), "there is no " + SCRIPT);
        ProcessBuilder builder = new ProcessBuilder(
                        SCRIPT.toString(),
                        "-qec",
                        settings + "; \"$JAVA\" --enable-native-access=ALL-UNNAMED '" + program.getName() + "' "
                                + argument,
                        "/dev/null")
                .redirectErrorStream(true);
        builder.environment()
                .put(
                        "JAVA",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString());
        builder.environment()
                .put(
                        "CLASSPATH",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        Process process = builder.start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int exit = process.waitFor();
        assumeFalse(out.contains("failed to create pseudo-terminal"), out); // as where /dev has no ptmx
        assertThat(exit).as(out).isZero();
        return out;
    }

    @Test
    void itsWidthIsFoundThoughNoShellExportsIt() throws Exception {
        assertThat(onATerminal("stty cols 37", Width.class, "")).contains("width 37");
        assertThat(onATerminal("exec 2>/dev/null", Width.class, "")).contains("width -1");
        assertThat(onATerminal("exec </dev/null; stty -F /dev/tty cols 37", Width.class, ""))
                .as("standard input is none")
                .contains("width 37");
    }

    @Test
    void oneThatIsDumbGetsNoColours() throws Exception {
        assertThat(onATerminal("export TERM=xterm", Penstock.class, "--help")).contains("COMMAND", "\u001b[");
        assertThat(onATerminal("export TERM=dumb", Penstock.class, "--help"))
                .contains("COMMAND")
                .doesNotContain("\u001b");
    }

    @Test
    void theLineOfABenchmarkHasItsBytesRateTimeLeftAndPath() throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[1 << 20]);
        assertThat(onATerminal(
                        "stty cols 120",
                        Penstock.class,
                        "bench " + file + " --backend host --bs 64k --warm-up 0 --time 5"))
                .containsPattern(
                        "\\d% \\[=.*] \\d/5 s \\(0:00:0\\d / 0:00:0\\d\\) \\d+\\.\\d\\d GB, \\d+\\.\\d+ GB/s, read, path HOST");
    }

    @Test
    void nothingIsDrawnIntoAFileThoughThereIsATerminal() throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[1 << 20]);
        Path errors = folder.resolve("errors");
        onATerminal(
                "exec 2>" + errors, Penstock.class, "bench " + file + " --backend host --bs 64k --warm-up 0 --time 2");
        assertThat(errors).isEmptyFile();
    }

    @Test
    void aDiskThatIsFullIsToldByTheNameOfTheNewFile() throws Exception {
        Path file = folder.resolve("new");
        String bench = "bench --rw write --size 64MiB --backend host " + file + " || true";
        assertThat(onATerminal("stty cols 300; ulimit -f 1000", Penstock.class, bench))
                .contains("penstock: " + file + " cannot be written: preallocate of ")
                .doesNotContain("/proc/self/fd");
    }

    @Test
    void aCopyThatBecomesTooLargeIsToldByItsName() throws Exception {
        Path source = Files.write(folder.resolve("source"), new byte[1 << 20]);
        Path target = folder.resolve("new");
        String copy = "copy --backend host " + source + " " + target + " || true";
        assertThat(onATerminal("stty cols 300; ulimit -f 100", Penstock.class, copy))
                .contains("penstock: copy of " + source + " to " + target + ": ")
                .contains("EFBIG")
                .doesNotContain("/proc/self/fd");
    }
}
