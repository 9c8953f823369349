// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.testing.CommandLineRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script {@code penstock} in a checkout that its user may not write to; most of the time its java prints the
 * arguments it gets.
 */
@EnabledOnOs(OS.LINUX)
class LauncherTest {

    private static final String JAVA = """
            #!/bin/sh
            case $1 in
                -XshowSettings:properties) echo ' java.specification.version = 17' >&2 ;;
                *) echo "$*" ;;
            esac
            """;

    @TempDir
    Path root;

    private Path java;
    private Path target;

    @BeforeEach
    void checkout() throws IOException {
        Files.copy(Path.of("..", "..", "penstock"), root.resolve("penstock"));
        java = Files.writeString(
                Files.createDirectories(root.resolve("jdk/bin")).resolve("java"), JAVA);
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        target = Files.createDirectories(root.resolve("samples/renderer/target"));
        Files.writeString(root.resolve("pom.xml"), "");
    }

    private CommandLineRun run() throws IOException, InterruptedException {
        return run(java.getParent().getParent(), "doctor");
    }

    private CommandLineRun run(Path javaHome, String argument) throws IOException, InterruptedException {
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("r-xr-xr-x"));
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("r-xr-xr-x"));
        try {
            List<String> command =
                    new ArrayList<>(List.of("sh", root.resolve("penstock").toString(), argument));
            if (System.getProperty("user.name").equals("root")) { // who may write everywhere
                assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "there is no setpriv");
                command.addAll(0, List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
            }
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().put("JAVA_HOME", javaHome.toString());
            Path err = Files.createTempFile("penstock-launcher", ".err");
            Process process = builder.redirectError(err.toFile()).start();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            String errors = Files.readString(err);
            Files.delete(err);
            return new CommandLineRun(code, out, errors);
        } finally {
            Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @Test
    void whatWasBuiltWithAnotherJavaRuns() throws Exception {
        Files.writeString(target.resolve("penstock.jsa"), "classes of the other java");
        Files.writeString(target.resolve("penstock.built"), "/opt/jdk/bin/java\n");
        CommandLineRun run = run();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("io.penstock.cli.Penstock doctor");
        assertThat(run.code()).isZero();
    }

    @Test
    void anArchiveThatJavaCannotUseIsNotMentioned() throws Exception {
        Files.writeString(target.resolve("penstock.jsa"), "classes of another java, which JDK 25 refuses in words");
        Files.writeString(target.resolve("penstock.built"), "/opt/jdk/bin/java\n");
        CommandLineRun run = run(Path.of(System.getProperty("java.home")), "doctor");
        assertThat(run.err()).contains("io.penstock.cli.Penstock").doesNotContain("cds"); // for there are no classes
    }

    @Test
    void whatIsNotBuiltIsACaseForItsOwner() throws Exception {
        CommandLineRun run = run();
        assertThat(run.complaints())
                .containsExactly("penstock: must be built, and " + root.toRealPath()
                        + " cannot be written: run it once as its owner");
        assertThat(run.code()).isEqualTo(1);
    }

    @Test
    void theSameGoesForTheDemoOfSpark() throws Exception {
        Path script = Files.createDirectories(root.resolve("samples/spark")).resolve("run");
        Files.copy(Path.of("..", "spark", "run"), script, StandardCopyOption.COPY_ATTRIBUTES);
        CommandLineRun run = run(java.getParent().getParent(), "spark-demo");
        assertThat(run.complaints())
                .containsExactly("spark-demo: must be built, and " + root.toRealPath()
                        + " cannot be written: run it once as its owner");
        assertThat(run.code()).isEqualTo(1);
    }
}
