// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** What is printed of wrong arguments, and the help texts. */
class MisuseTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "nope                      | there is no command 'nope'",
                "benhc x                   | there is no command 'benhc'; was bench meant?",
                "help nope                 | there is no command 'nope'",
                "copy a b c.bin            | one argument too many: c.bin",
                "copy a b c d              | 2 arguments too many: c d",
                "load --nope               | unknown option --nope",
                "copy --forse              | unknown option --forse; was --force meant?",
                "copy a b -x               | unknown option -x",
                "load                      | Missing required parameter: 'FILE'",
                "bench f --time x          | Invalid value for option '--time': 'x' is not a time, such as 2, 2s or 500ms",
                "serve . --port x          | Invalid value for option '--port': 'x' is not a whole number",
                "serve . --host-name a:80  | --host-name: a host name must be one without a port, such as files.example, was 'a:80'",
                "bench f --option foo      | Value for option '--option' (NAME=VALUE) should be in KEY=VALUE format but was foo"
            })
    void wrongArgumentsAreNamed(String command, String complaint) {
        CommandLineRun run = CommandLineRun.of((Object[]) command.split(" "));
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.complaints()).hasSize(2).startsWith("penstock: " + complaint);
    }

    @Test
    void aDirectoryThatDoesNotExistIsNotCalledAFile() {
        assertThat(CommandLineRun.of("serve", "nope").complaints())
                .containsExactly("penstock: there is no directory nope");
    }

    @ParameterizedTest
    @ValueSource(strings = {"load", "ls", "copy", "bench", "serve", "extents", "doctor", "help"})
    void helpDescribesEveryArgumentWithoutBreakingWords(String name) {
        String help = CommandLineRun.of(name, "--help").out();
        assertThat(help).contains("Shows this help.").doesNotContain("Show this help message");
        if (!name.equals("help")) {
            assertWordsAreWhole(CommandSpec.forAnnotatedObject(command(name)), help);
        }
    }

    private static Object command(String name) {
        return Stream.of(
                        new LoadCommand(),
                        new LsCommand(),
                        new CopyCommand(),
                        new BenchCommand(),
                        new ServeCommand(),
                        new ExtentsCommand(),
                        new DoctorCommand())
                .filter(command -> new CommandLine(command).getCommandName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static void assertWordsAreWhole(CommandSpec command, String help) {
        command.args()
                .forEach(argument -> assertThat(argument.description())
                        .as(argument.paramLabel())
                        .isNotEmpty()
                        .allSatisfy(text -> assertThat(help).contains(text.split(" +"))));
    }

    @Test
    void theTopLevelHelpReadsAsThatOfTheCommands() {
        assertThat(CommandLineRun.of().out())
                .contains("-h, --help      Shows this help.", "-V, --version   Prints the version.")
                .contains("Shows the help of a command.");
        assertThat(CommandLineRun.of("--version").out()).startsWith("penstock ");
        assertThat(CommandLineRun.of("help", "copy").out()).startsWith("Usage: penstock copy ");
        assertThat(CommandLineRun.of("doctor", "--help").out()).contains("Exits with 0");
        assertThat(CommandLineRun.of("load", "--help").out()).contains("256MiB");
        assertThat(CommandLineRun.of("copy", "--help").out()).contains("staged, host, remote");
    }
}
