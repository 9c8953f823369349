// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Reports at the end which tests were skipped and why, because a green build that skipped everything proves nothing.
 * The list is written to the console and to {@code target/penstock-skipped.txt} of the module. JUnit finds this
 * listener on the class path.
 *
 * <p><b>Threading:</b> tests may end on several threads; the report is written by the last.
 */
public final class SkipReport implements TestExecutionListener {

    private static final String FILE = "penstock-skipped.txt";

    private final Map<String, String> skipped = new ConcurrentHashMap<>();
    private final Set<String> ran = ConcurrentHashMap.newKeySet();
    private final Path directory;
    private final PrintStream console;

    /** Creates the listener that JUnit uses: it writes below the module that is being built. */
    public SkipReport() {
        this(Path.of(System.getProperty("basedir", ""), "target"), System.out);
    }

    SkipReport(Path directory, PrintStream console) {
        this.directory = directory;
        this.console = console;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        ran.add(name(test));
    }

    @Override
    public void executionSkipped(TestIdentifier test, @Nullable String reason) {
        skipped.put(name(test), reason == null ? "no reason given" : reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
            executionSkipped(
                    test, result.getThrowable().map(Throwable::getMessage).orElse(null));
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        skipped.forEach((name, reason) -> console.println("SKIPPED " + line(name, reason)));
        try {
            write();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + directory.resolve(FILE), e);
        }
    }

    /** Merges with the reports of other runs of this build: earlier ones, and JVMs that share the tests of a module. */
    private void write() throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (RandomAccessFile file =
                new RandomAccessFile(directory.resolve(FILE).toFile(), "rw")) {
            file.getChannel().lock(); // until it is closed
            byte[] earlier = new byte[Math.toIntExact(file.length())];
            file.readFully(earlier);
            Map<String, String> lines = new TreeMap<>();
            for (String line :
                    new String(earlier, StandardCharsets.UTF_8).lines().toList()) {
                int colon = line.indexOf(": ");
                if (colon > 0 && !ran.contains(line.substring(0, colon))) {
                    lines.put(line.substring(0, colon), line);
                }
            }
            skipped.forEach((name, reason) -> lines.put(name, line(name, reason)));
            file.setLength(0);
            for (String line : lines.values()) {
                file.write((line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private static String line(String name, String reason) {
        return name + ": " + String.join(" ", List.of(reason.strip().split("\\s+")));
    }

    private static String name(TestIdentifier test) {
        TestSource source = test.getSource().orElse(null);
        if (source instanceof MethodSource method) {
            return simple(method.getClassName()) + "." + test.getDisplayName();
        }
        return source instanceof ClassSource type ? simple(type.getClassName()) : test.getDisplayName();
    }

    private static String simple(String className) {
        return className.substring(className.lastIndexOf('.') + 1);
    }
}
