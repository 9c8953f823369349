// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Rules of the house for the sources of all modules, benchmarks included, which {@link HouseRulesTest} has no classes
 * of.
 */
class SourceFilesTest {

    private static final String LICENCE = "// SPDX-License-Identifier: Apache-2.0\n";
    private static final Path ROOT = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .getParent()
            .getParent();

    private static SourceRules ours;

    @BeforeAll
    static void parse() throws IOException {
        ours = new SourceRules(ROOT);
    }

    /** A rule, by who breaks it. */
    private interface Rule {
        Iterable<String> apply(SourceRules rules) throws IOException;
    }

    private static Arguments rule(String name, Rule rule, String file, String offence) {
        return Arguments.of(name, rule, file, offence);
    }

    static Stream<Arguments> rules() {
        String main = "src/main/java/io/penstock/X.java";
        return Stream.of(
                rule("files are short", SourceRules::longFiles, main, LICENCE + "\n".repeat(500)),
                rule("files name the licence", SourceRules::withoutLicence, main, "class X {}\n"),
                rule("packages say what they are for", SourceRules::packagesWithoutInfo, main, LICENCE + "class X {}"),
                rule("methods are short", SourceRules::longMethods, main, longMethod(SourceRules.MAX_METHOD_LINES + 1)),
                rule(
                        "tests are short",
                        SourceRules::longMethods,
                        "src/test/java/XTest.java",
                        longMethod(SourceRules.MAX_TEST_LINES + 1)),
                rule("JNA in ffi", SourceRules::jnaOutsideFfi, main, LICENCE + "class X { com.sun.jna.Pointer p; }"),
                rule(
                        "no structures",
                        SourceRules::jnaStructures,
                        main,
                        LICENCE + "import com.sun.jna.Structure;\nclass X {}"),
                rule(
                        "what is opened has an owner while it is cancelled",
                        SourceRules::openedByUsingWhen,
                        main,
                        LICENCE + "class X { Object x = Mono.usingWhen(backend.openFile(path), use, close); }"),
                rule("no Unsafe", SourceRules::unsafe, main, LICENCE + "import sun.misc.Unsafe;\nclass X {}"),
                rule(
                        "Logback and picocli in the command",
                        SourceRules::logbackAndPicocliOutsideTheCommand,
                        main,
                        LICENCE + "package io.penstock.benchmarks;\nimport picocli.CommandLine;\nclass X {}"),
                rule(
                        "names of types",
                        SourceRules::badlyNamedTypes,
                        main,
                        LICENCE + "class X { class SlotManager {} }"),
                rule("names of interfaces", SourceRules::badlyNamedTypes, main, LICENCE + "interface ISlot {}"));
    }

    static Stream<Arguments> rulesOfTexts() {
        return Stream.of(
                rule(
                        "comments repeat the noun",
                        SourceRules::pronounsInPlaceOfNouns,
                        "src/main/java/io/penstock/X.java",
                        LICENCE + "/** Its length is that " + "of its file. */\nclass X {}"),
                rule(
                        "pages repeat the noun",
                        SourceRules::pronounsInPlaceOfNouns,
                        "docs/page.md",
                        "Its length is that " + "of its file.\n"),
                rule(
                        "nothing names one machine",
                        SourceRules::placesOfOneMachine,
                        "docs/page.html",
                        "cd /home/" + "joe/penstock\n"),
                rule("no strangers at the top", SourceRules::strangersAtTheTop, "../hs_err_pid1.log", "SIGSEGV\n"));
    }

    private static String longMethod(int lines) {
        return LICENCE + "class X {\n    void method() {" + "\n".repeat(lines - 1) + "    }\n}\n";
    }

    @Test
    void theSourcesAreFoundAtAll() throws IOException {
        assertThat(ours.tracked()).contains("penstock", ".ci/run", "docs/view.png");
        assertThat(ours.files())
                .contains(
                        "api/src/main/java/io/penstock/Backend.java",
                        "tools/benchmarks/src/main/java/io/penstock/benchmarks/Rounds.java",
                        "tools/house/src/test/java/io/penstock/house/SourceFilesTest.java");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"rules", "rulesOfTexts"})
    void everyRuleHolds(String name, Rule rule, String file, String offence) throws IOException {
        assertThat(rule.apply(ours)).as("who breaks: %s", name).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"rules", "rulesOfTexts"})
    void everyRuleFindsItsOffender(String name, Rule rule, String file, String offence, @TempDir Path scratch)
            throws IOException {
        Path written = scratch.resolve("module").resolve(file).normalize();
        Files.createDirectories(written.getParent());
        Files.writeString(written, offence);
        assertThat(rule.apply(new SourceRules(scratch)))
                .as("who breaks: %s", name)
                .hasSize(1);
    }

    @Test
    void aMethodAsLongAsIsAllowedIsNoOffender(@TempDir Path scratch) throws IOException {
        Path written = scratch.resolve("module/src/main/java/X.java");
        Files.createDirectories(written.getParent());
        Files.writeString(written, longMethod(SourceRules.MAX_METHOD_LINES));
        assertThat(new SourceRules(scratch).longMethods()).isEmpty();
    }
}
