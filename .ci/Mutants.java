// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Deliberate bugs, as {@code MODULE/src/test/mutants.txt} lists them, and whether the tests named there fail with them.
 *
 * <pre>
 * java Mutants.java check ROOT                            compares every list below ROOT with the sources
 * java Mutants.java run MODULE CONSOLE CLASSPATH [ID...] compiles each mutant in front of the class path and runs its
 * tests
 * </pre>
 */
final class Mutants {

    private static final long LIMIT_SECONDS =
            Long.parseLong(System.getenv().getOrDefault("MUTANTS_LIMIT", "300"));
    private static final Pattern COUNT = Pattern.compile("\\[ *(\\d+) tests (successful|failed) *]");
    private static final Pattern FAILED_IN = Pattern.compile("className = '([^']+)', methodName = '([^']+)'");
    private static final String TIMED_OUT = "=> java.util.concurrent.TimeoutException:";

    /** Replaces text that stands exactly once in a file. */
    private record Edit(String file, String before, String after) {}

    private record Mutant(String id, String what, List<String> killedBy, boolean byTimeout, List<Edit> edits) {}

    /**
     * How a run of tests ended; {@code failed} are failures of tests, without failures by a time limit of JUnit's.
     */
    private record Outcome(boolean timeLimit, int successful, int failed, int timedOut, String firstFailure) {}

    private Mutants() {}

    public static void main(String[] args) throws Exception {
        List<String> problems;
        if (args.length == 2 && args[0].equals("check")) {
            problems = checkAll(Path.of(args[1]));
        } else if (args.length >= 4 && args[0].equals("run")) {
            problems = new Runs(Path.of(args[1]).toAbsolutePath(), args[2], args[3])
                    .all(new LinkedHashSet<>(Arrays.asList(args).subList(4, args.length)));
        } else {
            throw new IllegalArgumentException("check ROOT | run MODULE CONSOLE CLASSPATH [ID...]");
        }
        problems.forEach(System.out::println);
        System.exit(problems.isEmpty() ? 0 : 1);
    }

    private static List<String> checkAll(Path root) throws IOException {
        List<String> problems = new ArrayList<>();
        List<Path> modules;
        try (Stream<Path> folders = Files.walk(root, 2)) { // a module, or a group of modules
            modules = folders.filter(folder -> Files.exists(list(folder))).sorted().collect(Collectors.toList());
        }
        for (Path module : modules) {
            for (Mutant mutant : parse(module, problems)) {
                problems.addAll(check(module, mutant));
            }
        }
        System.out.println(modules.size() + " lists of mutants");
        return problems;
    }

    private static Path list(Path module) {
        return module.resolve("src/test/mutants.txt");
    }

    private static List<Mutant> parse(Path module, List<String> problems) throws IOException {
        List<Mutant> all = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        List<String> block = new ArrayList<>();
        for (String line : Files.readAllLines(list(module))) {
            if (line.equals("===")) {
                Mutant mutant = mutant(block);
                if (mutant.id.isEmpty() || mutant.killedBy.isEmpty() || mutant.edits.isEmpty()) {
                    problems.add(module.getFileName() + " " + mutant.id + ": id, file, killed-by, old and new are required");
                } else if (block.stream().filter(each -> each.startsWith("id: ")).count() > 1) {
                    problems.add(module.getFileName() + " " + mutant.id + ": there is no === before the next id");
                } else if (!ids.add(mutant.id)) {
                    problems.add(module.getFileName() + " " + mutant.id + ": this id is there twice");
                } else {
                    all.add(mutant);
                }
                block.clear();
            } else {
                block.add(line);
            }
        }
        if (block.stream().anyMatch(line -> !line.isBlank() && !line.startsWith("#"))) {
            problems.add(module.getFileName() + ": the last block has no ===");
        }
        return all;
    }

    private static Mutant mutant(List<String> block) {
        Map<String, String> headers = new LinkedHashMap<>();
        List<Edit> edits = new ArrayList<>();
        List<String> before = new ArrayList<>();
        List<String> after = new ArrayList<>();
        List<String> into = null; // the text that lines belong to; null among headers
        for (String line : block) {
            boolean ends = into == after && (line.equals("--- old") || line.startsWith("file: "));
            if (ends) {
                edits.add(new Edit(headers.get("file"), String.join("\n", before), String.join("\n", after)));
                into = null;
            }
            if (into == null && line.equals("--- old")) {
                before.clear();
                into = before;
            } else if (into == before && line.equals("--- new")) {
                after.clear();
                into = after;
            } else if (into != null) {
                into.add(line);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                int colon = line.indexOf(':');
                headers.put(colon < 0 ? line : line.substring(0, colon), line.substring(colon + 1).trim());
            }
        }
        if (into == after) {
            edits.add(new Edit(headers.get("file"), String.join("\n", before), String.join("\n", after)));
        }
        List<String> killedBy = Stream.of(headers.getOrDefault("killed-by", "").split(" +"))
                .filter(test -> !test.isEmpty())
                .collect(Collectors.toList());
        return new Mutant(
                headers.getOrDefault("id", ""),
                headers.getOrDefault("what", ""),
                killedBy,
                headers.getOrDefault("by-timeout", "no").equals("yes"),
                edits);
    }

    private static List<String> check(Path module, Mutant mutant) throws IOException {
        List<String> problems = new ArrayList<>();
        String name = module.getFileName() + " " + mutant.id + ": ";
        for (Edit edit : mutant.edits) {
            Path source = edit.file == null ? null : module.resolve(edit.file);
            if (source == null || !Files.isRegularFile(source)) {
                problems.add(name + "no file " + edit.file);
                continue;
            }
            int times = times(Files.readString(source), edit.before);
            if (times != 1) {
                problems.add(name + "the old text is " + times + " times in " + edit.file);
            } else if (edit.before.equals(edit.after)) {
                problems.add(name + "the new text is the old one in " + edit.file);
            }
        }
        for (String test : mutant.killedBy) {
            String[] parts = test.split("#", 2);
            Path source = testSource(module, parts[0]);
            if (source == null) {
                problems.add(name + "no test class " + parts[0]);
            } else if (parts.length == 2 && !Files.readString(source).contains(" " + parts[1].split("\\(")[0] + "(")) {
                problems.add(name + "no method " + test);
            }
        }
        return problems;
    }

    private static Path testSource(Path module, String type) {
        String file = type.replaceAll("\\$.*", "").replace('.', '/') + ".java";
        return Stream.of("src/test/java", "../engine/src/testing/java", "../../engine/src/testing/java")
                .map(module::resolve)
                .map(folder -> folder.resolve(file))
                .filter(Files::isRegularFile)
                .findFirst()
                .orElse(null);
    }

    private static int times(String text, String part) {
        int count = 0;
        for (int at = part.isEmpty() ? -1 : text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
            count++;
        }
        return count;
    }

    /** The mutants of one module, one after another. */
    private static final class Runs {
        private final Path module;
        private final String console;
        private final String classPath;
        private final Path work;

        Runs(Path module, String console, String classPath) {
            this.module = module;
            this.console = console;
            this.classPath = classPath;
            this.work = module.resolve("target/mutants");
        }

        List<String> all(Set<String> ids) throws Exception {
            List<String> problems = new ArrayList<>();
            List<Mutant> mutants = parse(module, problems);
            Set<String> unknown = new LinkedHashSet<>(ids);
            mutants.forEach(mutant -> unknown.remove(mutant.id));
            unknown.forEach(id -> problems.add(module.getFileName() + " " + id + ": not in the list"));
            mutants.removeIf(mutant -> !ids.isEmpty() && !ids.contains(mutant.id));
            for (Mutant mutant : mutants) {
                problems.addAll(check(module, mutant));
            }
            if (!problems.isEmpty()) {
                return problems;
            }
            Set<String> tests = new LinkedHashSet<>();
            mutants.forEach(mutant -> tests.addAll(mutant.killedBy));
            Outcome unmutated = test("unmutated", classPath, tests);
            if (unmutated.timeLimit || unmutated.failed + unmutated.timedOut > 0 || unmutated.successful == 0) {
                return List.of("the tests are not green without a mutant: " + work.resolve("unmutated.log"));
            }
            System.out.println("unmutated: " + unmutated.successful + " tests are green");
            List<String> survivors = new ArrayList<>();
            for (Mutant mutant : mutants) {
                boolean killed = isKilled(mutant);
                if (!killed) {
                    survivors.add(mutant.id);
                }
            }
            System.out.println(mutants.size() + " mutants, " + (mutants.size() - survivors.size()) + " killed");
            return survivors.isEmpty() ? List.of() : List.of("not killed: " + String.join(" ", survivors));
        }

        private boolean isKilled(Mutant mutant) throws Exception {
            long start = System.nanoTime();
            Path folder = work.resolve(mutant.id);
            delete(folder);
            Path classes = Files.createDirectories(folder.resolve("classes"));
            String verdict;
            boolean killed = false;
            String messages = compile(mutant, folder.resolve("sources"), classes);
            if (messages != null) {
                verdict = "DOES NOT COMPILE\n" + messages;
            } else {
                Outcome outcome = test(mutant.id, classes + File.pathSeparator + classPath, mutant.killedBy);
                boolean hung = outcome.timeLimit || outcome.timedOut > 0;
                killed = !outcome.timeLimit && outcome.failed > 0 || hung && mutant.byTimeout;
                verdict = killed ? "killed by " + (outcome.failed > 0 ? outcome.firstFailure : "a time limit")
                        : hung ? "HANGS, no test failed" : "SURVIVED " + outcome.successful + " tests";
            }
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
            System.out.println(mutant.id + " (" + mutant.what + "): " + verdict + ", " + seconds + " s");
            return killed;
        }

        /** Returns what the compiler complained of, or null. */
        private String compile(Mutant mutant, Path sources, Path classes) throws IOException {
            Map<Path, String> edited = new LinkedHashMap<>();
            for (Edit edit : mutant.edits) {
                Path source = module.resolve(edit.file);
                Path copy = sources.resolve(edit.file.replace("../", "")); // "../engine/..." is another module's
                String text = edited.containsKey(copy) ? edited.get(copy) : Files.readString(source);
                edited.put(copy, text.replace(edit.before, edit.after));
            }
            for (Map.Entry<Path, String> source : edited.entrySet()) {
                Files.createDirectories(source.getKey().getParent());
                Files.writeString(source.getKey(), source.getValue());
            }
            JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
            var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
            StringWriter messages = new StringWriter();
            List<String> options = List.of(
                    "-d", classes.toString(), "-cp", classPath, "--release", "17", "-proc:none", "-nowarn",
                    "-parameters", "-g", "-implicit:none", "-XDstringConcat=inline");
            boolean compiled = compiler.getTask(
                            messages, manager, null, options, null, manager.getJavaFileObjectsFromPaths(edited.keySet()))
                    .call();
            return compiled ? null : messages.toString();
        }

        private Outcome test(String name, String path, Collection<String> tests) throws Exception {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                    "-Dmutants.sources=" + work.resolve(name).resolve("sources"),
                    "-Dsurefire.test.class.path=" + path, // tests that start another JVM look there
                    "-jar", console, "execute", "--class-path", path,
                    "--disable-banner", "--disable-ansi-colors", "--details=summary", "--fail-if-no-tests",
                    "--config=junit.jupiter.execution.timeout.default=60s"));
            for (String test : tests) {
                command.add((test.contains("#") ? "--select-method=" : "--select-class=") + test);
            }
            Path log = Files.createDirectories(work).resolve(name + ".log");
            Process process = new ProcessBuilder(command)
                    .directory(module.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            process.getOutputStream().close();
            boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
            }
            return outcome(!ended, Files.readString(log, java.nio.charset.StandardCharsets.ISO_8859_1));
        }

        private static Outcome outcome(boolean timeLimit, String log) {
            int successful = 0;
            int failed = 0;
            for (Matcher count = COUNT.matcher(log); count.find(); ) {
                if (count.group(2).equals("failed")) {
                    failed = Integer.parseInt(count.group(1));
                } else {
                    successful = Integer.parseInt(count.group(1));
                }
            }
            int timedOut = times(log, TIMED_OUT);
            Matcher first = FAILED_IN.matcher(log);
            String where = first.find() ? first.group(1).replaceAll(".*\\.", "") + "#" + first.group(2) : "a test";
            return new Outcome(timeLimit, successful, Math.max(0, failed - timedOut), timedOut, where);
        }

        private static void delete(Path folder) throws IOException {
            if (Files.exists(folder)) {
                List<Path> all;
                try (Stream<Path> walk = Files.walk(folder)) {
                    all = walk.collect(Collectors.toList());
                }
                for (int i = all.size() - 1; i >= 0; i--) {
                    Files.delete(all.get(i));
                }
            }
        }
    }
}
