// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.testing.CommandLineRun;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What all commands have in common. */
class PenstockTest {

    @TempDir
    Path folder;

    @Test
    void theShellCompletesCommandsAndOptions() {
        CommandLineRun run = CommandLineRun.of("generate-completion");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("complete -F _complete_penstock", "doctor", "'--values'");
    }

    @Test
    void theVersionHasItsCommit() {
        assertThat(CommandLineRun.of("--version").out())
                .matches("penstock \\d+\\.\\d+\\.\\d+ \\(commit ([0-9a-f]{8}|unknown)\\)\\R");
    }

    @Test
    void helpListsFirstWhatIsNeededFirst() {
        assertThat(CommandLineRun.of("--help").out())
                .containsSubsequence("  doctor ", "  ls ", "  load ", "  copy ", "  bench ", "  serve ", "spark-demo");
    }

    @Test
    void aLineIsBrokenBetweenWordsAndIndentedAsItsText() {
        assertThat(TextTable.wrapped("    \u001b[32mok     \u001b[0m a library of some length", 24)
                        .lines())
                .containsExactly("    \u001b[32mok     \u001b[0m a library of", "            some length");
        assertThat(TextTable.wrapped("    - /a/path/without/blanks and more", 12)
                        .lines())
                .containsExactly("    -", "    /a/path/without/blanks", "    and more");
    }

    @Test
    void outputThatCannotBeWrittenIsAFailure() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.isWritable(full), "there is no /dev/full");
        Path source = Files.writeString(folder.resolve("source"), "bytes");
        for (String[] command : new String[][] {
            {"copy", source.toString(), folder.resolve("copy").toString()}, {"--help"}, {"copy", "--help"}
        }) {
            StringWriter err = new StringWriter();
            int code;
            try (PrintStream out = new PrintStream(new FileOutputStream(full.toFile()))) {
                code = Penstock.run(
                        new PrintWriter(out, true, StandardCharsets.UTF_8), new PrintWriter(err, true), command);
            }
            assertThat(code).as("%s", (Object) command).isEqualTo(1);
            assertThat(err.toString().lines()).containsExactly("penstock: standard output cannot be written");
        }
    }

    @ParameterizedTest
    @CsvSource({"copy NAME copy, 2", "load NAME, 2", "bench FILE --sweep --out NAME, 1"})
    void aNameThatTheLocaleCannotRepresentIsReportedWithARemedy(String command, int code) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "bytes");
        String arguments =
                command.replace("NAME", "\"$(printf 'gr\\303\\274n')\"").replace("FILE", file.toString());
        assertRemedyForTheLocale("", arguments, code);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ls file", "copy ./file copy", "doctor .", "serve none"})
    void aWorkingDirectoryThatTheLocaleCannotRepresentIsReportedWithARemedy(String arguments) throws Exception {
        Path directory = Files.createDirectory(folder.resolve("plain"));
        Files.writeString(directory.resolve("file"), "bytes");
        String green = "mv plain \"$(printf 'gr\\303\\274n')\" && cd gr* && ";
        assertRemedyForTheLocale(green, arguments, 2);
    }

    private void assertRemedyForTheLocale(String before, String arguments, int code) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        before + "LC_ALL=C exec \"$0\" -cp \"$1\" " + Penstock.class.getName() + " " + arguments,
                        java,
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")))
                .directory(folder.toFile())
                .start();
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(err).isEqualTo(code);
        assertThat(err.lines().findFirst().orElseThrow())
                .contains("set LC_ALL=C.UTF-8")
                .doesNotContain("Exception");
    }

    @ParameterizedTest
    @ValueSource(strings = {"copy", "ls", "load", "bench", "doctor", "serve", "extents"})
    void anEmptyNameIsNotTheWorkingDirectory(String command) {
        CommandLineRun run = CommandLineRun.of(command, "");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.complaints()[0]).contains("a file name must not be empty");
    }

    /** As a path its slashes collapse, and nothing of that name is there. */
    @ParameterizedTest
    @ValueSource(strings = {"bench", "doctor", "serve", "extents"})
    void whatReadsPathsOnlySaysSoOfAUrl(String command) {
        CommandLineRun run = CommandLineRun.of(command, "https://models.example/llm.safetensors?signature=secret");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.complaints()[0])
                .contains("must be a path, was a URL; ls, load and copy take URLs")
                .doesNotContain("secret");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void filesThatCannotBeReadOrWrittenAreNamed() throws Exception {
        assertThat(CommandLineRun.of("ls", "/proc/self/mem").complaints())
                .containsExactly("penstock: /proc/self/mem: Input/output error");
        assertThat(CommandLineRun.of("copy", "/proc/self/mem", folder.resolve("copy"))
                        .complaints())
                .containsExactly("penstock: /proc/self/mem: Input/output error");
        Path source = Files.write(folder.resolve("source"), new byte[1 << 20]);
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -f 1000; exec \"$0\" -cp \"$1\" " + Penstock.class.getName() + " copy source target",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")))
                .directory(folder.toFile())
                .start();
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(err).isEqualTo(1);
        assertThat(err).contains("penstock: copy of source to target: ", "EFBIG");
        assertThat(folder.resolve("target")).doesNotExist();
        assertThat(source).hasSize(1 << 20);
    }

    @Test
    void anArgumentThatIsNotKnownReachesTheTerminalWithoutItsControlCharacters() {
        assertThat(CommandLineRun.of("copy", "--\u001b[2Jx", "a", "b").complaints())
                .containsExactly("penstock: unknown option --?[2Jx", "see: ./penstock copy --help");
    }

    @Test
    void aBackendThatIsNotThereIsReportedWithTheOthersALineEach() throws IOException {
        Path source = Files.write(folder.resolve("source"), new byte[1]);
        assertThat(CommandLineRun.of("copy", "--backend", "nope", source, folder.resolve("copy"))
                        .complaints())
                .startsWith("penstock: there is no backend 'nope'; providers:")
                .anyMatch(line -> line.startsWith("  host: available"));
    }

    @Test
    void helpHasTheWidthOfTheShell() {
        assertThat(Penstock.columns(null)).isEqualTo(80);
        assertThat(Penstock.columns("132")).isEqualTo(132);
        assertThat(Penstock.columns("20")).isEqualTo(55);
        assertThat(Penstock.columns("0")).isEqualTo(80);
        assertThat(Penstock.columns("wide")).isEqualTo(80);
        assertThat(Penstock.columns("99999999999")).isEqualTo(80);
    }

    @Test
    void slowRatesAreNotZero() {
        assertThat(Progress.rate(1_000_000, 1_000_000_000)).isEqualTo("1.00 MB/s");
        assertThat(Progress.rate(300, 1_000_000_000)).isEqualTo("0.30 kB/s");
        assertThat(Progress.rate(5_000_000_000L, 2_000_000_000)).isEqualTo("2.50 GB/s");
    }
}
