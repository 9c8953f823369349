// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Rules for the sources of all modules; each method returns who breaks one. */
final class SourceRules {

    static final int MAX_FILE_LINES = 500;

    /** Methods of src/main and of src/testing; methods of tests may be {@link #MAX_TEST_LINES} long. */
    static final int MAX_METHOD_LINES = 40;

    /** The longest test there is today. */
    static final int MAX_TEST_LINES = 48;

    /** Lists rather than methods: the longest of all. They may become shorter. */
    static final Map<String, Integer> LONGER = Map.of("HandoverRules.publishers", 51, "MutantsTest.ofTransfers", 88);

    /** The files beside the folders of the modules. */
    private static final Set<String> TOP = Set.of(
            ".editorconfig",
            ".gitattributes",
            ".gitignore",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "LICENSE",
            "NOTICE",
            "README.md",
            "SECURITY.md",
            "mkdocs.yml",
            "mvnw",
            "mvnw.cmd",
            "penstock",
            "pom.xml");

    private static final String LICENCE = "// SPDX-License-Identifier: Apache-2.0";

    private final Path root;
    private final List<Path> texts; // sources and pages
    private final List<Path> files;
    private final List<ParsedSource> parsed;

    /** Reads all sources and pages below {@code root}. */
    SourceRules(Path root) throws IOException {
        this.root = root;
        try (Stream<Path> found = Files.walk(root)) {
            texts = found.filter(file -> file.toString().matches(".*\\.(java|md)"))
                    .filter(file ->
                            !name(file).contains("target/") && !name(file).startsWith("."))
                    .sorted()
                    .toList();
        }
        files = texts.stream().filter(file -> file.toString().endsWith(".java")).toList();
        parsed = files.isEmpty() ? List.of() : ParsedSource.of(files);
    }

    /** Returns the path from the root, with slashes. */
    private String name(Path file) {
        return root.relativize(file).toString().replace('\\', '/');
    }

    List<String> files() {
        return files.stream().map(this::name).toList();
    }

    List<String> longFiles() {
        return files.stream()
                .filter(file -> lines(file).size() > MAX_FILE_LINES)
                .map(this::name)
                .toList();
    }

    List<String> withoutLicence() {
        return files.stream()
                .filter(file -> !lines(file).get(0).equals(LICENCE))
                .map(this::name)
                .toList();
    }

    List<String> packagesWithoutInfo() {
        return files.stream()
                .filter(file -> name(file).contains("/src/main/java/io/"))
                .map(Path::getParent)
                .distinct()
                .filter(folder -> !Files.exists(folder.resolve("package-info.java")))
                .map(this::name)
                .toList();
    }

    List<String> longMethods() {
        List<String> tooLong = new ArrayList<>();
        for (ParsedSource source : parsed) {
            boolean test = !isProgram(source) && !name(source.file()).contains("src/testing/");
            int most = test ? MAX_TEST_LINES : MAX_METHOD_LINES;
            source.methods().forEach((method, lines) -> {
                if (lines > LONGER.getOrDefault(method, most)) {
                    tooLong.add(name(source.file()) + ": " + method + " has " + lines + " lines");
                }
            });
        }
        return tooLong;
    }

    List<String> jnaOutsideFfi() {
        return thatName((source, name) -> name.startsWith("com.sun.jna.")
                && !List.of(source.place().split("\\.")).contains("ffi"));
    }

    List<String> jnaStructures() {
        // CudaIpc and HipIpc pass one by value: see HouseRulesTest.
        return thatName((source, name) -> name.startsWith("com.sun.jna.Structure")
                && !source.file().endsWith("io/penstock/backend/cufile/ffi/CudaIpc.java")
                && !source.file().endsWith("io/penstock/backend/hip/ffi/HipIpc.java"));
    }

    List<String> unsafe() {
        return thatName((source, name) -> name.startsWith("sun.misc.") || name.startsWith("jdk.internal."));
    }

    List<String> logbackAndPicocliOutsideTheCommand() {
        return thatName((source, name) -> (name.startsWith("ch.qos.logback.") || name.startsWith("picocli."))
                && !source.place().matches("io\\.penstock\\.(cli|renderer)(\\..*)?"));
    }

    List<String> badlyNamedTypes() {
        return parsed.stream()
                .filter(SourceRules::isProgram)
                .flatMap(source -> source.types().stream())
                .filter(type -> type.matches(".*(Impl|Utils?|Helper|Manager)|(Abstract[A-Z]|I[A-Z][a-z]).*"))
                .toList();
    }

    /**
     * A resource that arrives while a subscriber of {@code usingWhen} cancels has no owner: what is opened is opened by
     * {@code Backend.using}, and {@code usingWhen} is for what exists before it is used.
     */
    List<String> openedByUsingWhen() {
        Pattern call = Pattern.compile("\\busingWhen\\((?!\\s*Mono\\.fromSupplier\\()");
        return files.stream()
                .filter(file -> name(file).contains("/src/main/") || name(file).startsWith("src/main/"))
                .filter(file -> call.matcher(String.join("\n", lines(file))).find())
                .map(this::name)
                .toList();
    }

    /** A comment that repeats the noun need not be read twice. */
    List<String> pronounsInPlaceOfNouns() {
        Pattern pronoun = Pattern.compile("\\b[Tt](hat|hose) of\\b");
        List<String> found = new ArrayList<>();
        for (Path file : texts) {
            lines(file).stream()
                    .filter(line -> pronoun.matcher(line).find())
                    .forEach(line -> found.add(name(file) + ": repeat the noun: " + line.strip()));
        }
        return found;
    }

    /** Nobody else has the folders of the machine where a file was written. */
    List<String> placesOfOneMachine() throws IOException {
        Pattern place = Pattern.compile(
                "(?<![\\w.])(/(work|root|(home|Users)/(?!user/)[\\w-]+)/|[A-Z]:[\\\\/]+Users\\b).{0,20}");
        List<String> found = new ArrayList<>();
        for (String file : tracked()) {
            // A byte is a character: files that are no text are searched too.
            place.matcher(Files.readString(root.resolve(file), StandardCharsets.ISO_8859_1))
                    .results()
                    .forEach(match -> found.add(file + ": " + match.group()));
        }
        return found;
    }

    List<String> strangersAtTheTop() throws IOException {
        return tracked().stream()
                .filter(file -> !file.contains("/") && !TOP.contains(file))
                .toList();
    }

    /** Returns what git tracks; where there is no repository, as in a copy of what is tracked, all that was not built. */
    List<String> tracked() throws IOException {
        if (Files.exists(root.resolve(".git"))) {
            Process git = new ProcessBuilder("git", "-c", "safe.directory=*", "ls-files", "-z")
                    .directory(root.toFile())
                    .start();
            return Stream.of(new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\0"))
                    .filter(file -> Files.isRegularFile(root.resolve(file))) // neither removed since nor a link
                    .toList();
        }
        try (Stream<Path> found = Files.walk(root)) {
            return found.filter(Files::isRegularFile)
                    .map(this::name)
                    .filter(file -> !file.contains("target/"))
                    .toList();
        }
    }

    private List<String> thatName(BiPredicate<ParsedSource, String> rule) {
        List<String> broken = new ArrayList<>();
        for (ParsedSource source : parsed) {
            source.names().stream()
                    .filter(name -> isProgram(source) && rule.test(source, name))
                    .forEach(name -> broken.add(name(source.file()) + ": " + name));
        }
        return broken;
    }

    private static boolean isProgram(ParsedSource source) {
        return source.file().toString().replace('\\', '/').contains("/src/main/");
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
