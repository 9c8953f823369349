// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every option, format, command and backend is listed wherever it must be, and described on its page. Read from the
 * sources, so that no other module is built to find the row that is missing; {@code OptionsPageTest} of tools/house
 * compares all that a row of an option holds.
 */
@Tag("once")
class RowsTest {

    private static final Path ROOT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
    private static final Pattern OPTION = Pattern.compile("static final"
            + " Option<[^=]*=\\s*(?:OPTIONS\\s*\\.add\\(\\s*)?Option\\s*\\.\\w+\\(\\s*\"(penstock\\.[\\w.-]+)\"");
    private static final Pattern OPTION_ROW = Pattern.compile("^\\| `(penstock\\.[\\w.-]+)` \\|", Pattern.MULTILINE);
    private static final Pattern READER = Pattern.compile("class (\\w+) implements FormatReader");
    private static final Pattern FORMAT = Pattern.compile("String FORMAT = \"([^\"]+)\"");
    private static final String FUZZED = "formats/src/test/java/io/penstock/formats/FuzzTarget.java";
    private static final Pattern CORPUS = Pattern.compile("\"(\\w+)\", new \\w+\\(\\)");
    private static final Pattern COMMAND =
            Pattern.compile("@Command\\(\\s*name = \"([\\w-]+)\"[\\s\\S]*?\\bclass (\\w+) implements (\\w+)");
    private static final Pattern COMMAND_ROW = Pattern.compile("^\\./penstock ([\\w-]+)", Pattern.MULTILINE);

    /** The text of each file of main Java, by its path. */
    private static final Map<String, String> SOURCES = new TreeMap<>();

    @BeforeAll
    static void read() throws IOException {
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = folder.getFileName().toString();
                return Set.of("target", "test", "testing").contains(name) || name.startsWith(".")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (file.toString().endsWith(".java")) {
                    SOURCES.put(ROOT.relativize(file).toString().replace('\\', '/'), Files.readString(file));
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static Set<String> names(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> minus(Set<String> names, Set<String> others) {
        Set<String> rest = new TreeSet<>(names);
        rest.removeAll(others);
        return rest;
    }

    /** The complaints about files that must contain a text, and do not. */
    private static final class Missing {

        private final List<String> rows = new ArrayList<>();

        void unlessIn(String file, String wanted) throws IOException {
            Path path = ROOT.resolve(file);
            if (!Files.exists(path) || !Files.readString(path).contains(wanted)) {
                rows.add(file + ": " + wanted);
            }
        }

        void assertNone() {
            assertThat(rows).as("files, and the text that each lacks").isEmpty();
        }
    }

    @Test
    void everyOptionHasARowAndEveryRowAnOption() throws IOException {
        Set<String> declared = new TreeSet<>();
        SOURCES.forEach((file, text) -> {
            if (file.endsWith("Options.java")) {
                declared.addAll(names(OPTION, text));
            }
        });
        Set<String> rows = names(OPTION_ROW, Files.readString(ROOT.resolve("docs/options.md")));
        rows.addAll(names(OPTION_ROW, Files.readString(ROOT.resolve("docs/lucene.md"))));
        assertThat(declared).contains("penstock.queue.depth", "penstock.staging.workers", "penstock.ucx.gpu-direct");
        assertThat(minus(declared, rows))
                .as("options without a row in docs/options.md")
                .isEmpty();
        assertThat(minus(rows, declared))
                .as("rows of docs/options.md without an option")
                .isEmpty();
    }

    @Test
    void everyFormatIsFoundByItsFilesIsFuzzedAndIsOnItsPage() throws IOException {
        Missing missing = new Missing();
        Set<String> readers = new TreeSet<>();
        String page = letters(Files.readString(ROOT.resolve("docs/formats.md")));
        for (String text : SOURCES.values()) {
            for (String reader : names(READER, text)) {
                readers.add(reader);
                missing.unlessIn(
                        "formats/src/main/java/io/penstock/formats/read/FormatReader.java", "new " + reader + "()");
                missing.unlessIn(FUZZED, "new " + reader + "()");
                names(FORMAT, text).stream()
                        .filter(format -> !page.contains(letters(format)))
                        .forEach(format -> missing.rows.add("docs/formats.md: " + format));
            }
        }
        assertThat(readers).contains("NpyReader", "SafetensorsReader", "ZarrReader");
        names(CORPUS, Files.readString(ROOT.resolve(FUZZED))).stream()
                .map(format -> "formats/src/test/resources/fuzz/" + format + ".zip")
                .filter(corpus -> !Files.exists(ROOT.resolve(corpus)))
                .forEach(corpus -> missing.rows.add(corpus + ": inputs for the fuzzer to begin with"));
        missing.assertNone();
    }

    private static String letters(String text) {
        return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }

    @Test
    void everyCommandIsListedAndIsOnThePageWhichHasNoOther() throws IOException {
        Missing missing = new Missing();
        Set<String> commands = new TreeSet<>();
        for (Map.Entry<String, String> source : SOURCES.entrySet()) {
            Matcher command = COMMAND.matcher(source.getValue());
            while (command.find()) {
                commands.add(command.group(1));
                String module = source.getKey().replaceFirst("src/main/.*", "");
                if (command.group(3).equals("Subcommand")) {
                    missing.unlessIn(
                            module + "src/main/resources/META-INF/services/io.penstock.cli.Subcommand",
                            "." + command.group(2));
                } else {
                    missing.unlessIn(
                            "tools/cli/src/main/java/io/penstock/cli/Penstock.java", command.group(2) + ".class");
                }
                missing.unlessIn("docs/commands.md", "\n./penstock " + command.group(1) + " ");
            }
        }
        assertThat(commands).contains("load", "doctor", "view");
        Set<String> described = names(COMMAND_ROW, Files.readString(ROOT.resolve("docs/commands.md")));
        described.remove("spark-demo"); // of the script
        assertThat(minus(described, commands))
                .as("commands of docs/commands.md that do not exist")
                .isEmpty();
        missing.assertNone();
    }

    @Test
    void everyBackendIsBuiltReleasedHeldToTheRulesAndOnThePages() throws IOException {
        Missing missing = new Missing();
        List<String> backends;
        try (Stream<Path> folders = Files.list(ROOT)) {
            backends = folders.filter(folder -> Files.exists(folder.resolve("pom.xml")))
                    .map(folder -> folder.getFileName().toString())
                    .filter(name -> name.startsWith("backend-"))
                    .sorted()
                    .toList();
        }
        assertThat(backends).contains("backend-host", "backend-cufile");
        for (String backend : backends) {
            String artifact = "<artifactId>penstock-" + backend + "</artifactId>";
            missing.unlessIn("pom.xml", "<module>" + backend + "</module>");
            missing.unlessIn(backend + "/pom.xml", artifact);
            for (String pom : List.of("pom.xml", "bom/pom.xml", "tools/cli/pom.xml", "tools/house/pom.xml")) {
                missing.unlessIn(pom, artifact);
            }
            missing.unlessIn(backend + "/src/main/java/module-info.java", "provides io.penstock.spi.BackendProvider");
            missing.unlessIn("docs/modules.md", "\n| `" + backend + "` |");
            missing.unlessIn("docs/architecture.md", " " + backend);
        }
        missing.assertNone();
    }
}
