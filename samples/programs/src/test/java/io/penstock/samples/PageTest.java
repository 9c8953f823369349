// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/samples.md quotes every program as it is, without licence and imports, and no program is long. */
class PageTest {

    private static final int MOST_LINES = 60;
    private static final Pattern IMPORT = Pattern.compile("^import .*?(\\w+);\n", Pattern.MULTILINE);
    private static final Path MODULE =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    private static final Path PAGE = MODULE.resolve("../../docs/samples.md");

    static List<Path> programs() throws IOException {
        try (Stream<Path> files = Files.list(MODULE.resolve("src/main/java/io/penstock/samples"))) {
            return files.filter(file -> !file.endsWith("package-info.java"))
                    .sorted()
                    .toList();
        }
    }

    private static String name(Path program) {
        return program.getFileName().toString().replace(".java", "");
    }

    @ParameterizedTest
    @MethodSource("programs")
    void quotesTheProgram(Path program) throws IOException {
        String source = Files.readString(program);
        assertThat(Files.readString(PAGE))
                .contains("## " + name(program) + "\n\n```java\n" + source.substring(source.indexOf("/**")) + "```\n")
                .containsPattern("\\| \\[" + name(program) + "]\\(#"
                        + name(program).toLowerCase(Locale.ROOT) + "\\) \\| \\w.+ \\|" + arguments(source) + "\n");
    }

    /** Returns a pattern of the table's last column: a name for each argument that the program accesses. */
    private static String arguments(String source) {
        int last = Pattern.compile("arguments\\[(\\d)]")
                .matcher(source)
                .results()
                .mapToInt(access -> Integer.parseInt(access.group(1)))
                .max()
                .orElse(-1);
        return last < 0 ? "" : " `\\[?\\w+" + " \\[?\\w+\\W*".repeat(last) + ".*` \\|";
    }

    @ParameterizedTest
    @MethodSource("programs")
    void theProgramIsShort(Path program) throws IOException {
        assertThat(Files.readAllLines(program)).hasSizeLessThanOrEqualTo(MOST_LINES);
    }

    @Test
    void quotesTheKotlinProgram() throws IOException {
        String source = Files.readString(
                MODULE.resolveSibling("kotlin/src/main/kotlin/io/penstock/samples/kotlin/Coroutines.kt"));
        assertThat(blocks("samples.md", "kotlin")).containsExactly(source.substring(source.indexOf("/**")));
    }

    /** Other pages quote parts of programs, which tests run: unindented, behind the imports of what they name. */
    @ParameterizedTest
    @ValueSource(strings = {"formats.md", "recipes.md"})
    void everyBlockOfThePageStandsInAProgramAndCanBePasted(String page) throws IOException {
        List<String> sources = new ArrayList<>();
        for (Path program : programs()) {
            sources.add(Files.readString(program));
        }
        assertThat(blocks(page, "java"))
                .hasSizeGreaterThanOrEqualTo(3)
                .allSatisfy(block -> assertThat(sources).anySatisfy(source -> assertIsQuoted(block, source)));
    }

    private static void assertIsQuoted(String block, String source) {
        String body = block.replaceFirst("\\A(import .*\n)+\n", "");
        assertThat(source.lines().map(String::strip).collect(Collectors.joining("\n")))
                .contains(body.lines().map(String::strip).collect(Collectors.joining("\n")));
        assertThat(body).isEqualTo(body.stripIndent());
        String imports = IMPORT.matcher(source)
                .results()
                .filter(one -> Pattern.compile("\\b" + one.group(1) + "\\b")
                        .matcher(body)
                        .find())
                .map(MatchResult::group)
                .collect(Collectors.joining());
        assertThat(block).isEqualTo(imports.isEmpty() ? body : imports + "\n" + body);
    }

    /** .ci/release builds and runs that project. */
    @Test
    void gettingStartedIsTheProjectThatIsBuiltFromTheReleasedArtifacts() throws IOException {
        Path project = MODULE.resolve("../../.ci/consumer");
        String program = Files.readString(project.resolve("src/main/java/org/example/app/Main.java"));
        assertThat(blocks("getting-started.md", "java"))
                .as("with its package and imports: what a reader pastes must compile")
                .containsExactly(program.substring(program.indexOf("package ")));
        String pom = Files.readString(project.resolve("pom.xml"));
        assertThat(blocks("getting-started.md", "xml")).containsExactly(pom.substring(pom.indexOf("<project")));
    }

    private static List<String> blocks(String page, String language) throws IOException {
        return Pattern.compile("^```" + language + "\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
                .matcher(Files.readString(MODULE.resolve("../../docs").resolve(page)))
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();
    }

    @Test
    void quotesNothingElse() throws IOException {
        List<String> headings = Pattern.compile("^## (\\w+)$", Pattern.MULTILINE)
                .matcher(Files.readString(PAGE))
                .results()
                .map((MatchResult heading) -> heading.group(1))
                .sorted()
                .toList();
        assertThat(headings)
                .isEqualTo(programs().stream().map(PageTest::name).toList())
                .hasSizeGreaterThanOrEqualTo(10);
    }
}
