// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lists of mutants fit the sources: {@code .ci/mutants} can put each of them in. */
class MutantListsTest {

    private static final Path ROOT = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .getParent()
            .getParent();

    private static final String GOOD = """
            id: X1
            file: src/main/java/a/A.java
            what: one edit, and a second one
            killed-by: a.ATest a.ATest#adds
            --- old
            int one = 1;
            --- new
            int one = 2;
            file: src/main/java/a/A.java
            --- old
            int two = 2;
            --- new
            ===
            """;

    @TempDir
    Path scratch;

    private record Answer(int exit, String text) {}

    @BeforeAll
    static void whereThereIsACompiler() {
        assumeTrue(ModuleLayer.boot().findModule("jdk.compiler").isPresent(), "this Java runtime has no compiler");
    }

    @Test
    void everyListFitsTheSources() throws Exception {
        Answer answer = check(ROOT);
        assertThat(answer.exit).as(answer.text).isZero();
        assertThat(answer.text).doesNotStartWith("0 lists");
    }

    @Test
    void everyMistakeInAListIsFoundAndNothingElse() throws Exception {
        module("good", GOOD);
        module("none", GOOD.replace("int one = 1;", "int none = 1;"));
        module("twice", GOOD.replace("int two = 2;\n--- new", "int\n--- new"));
        module("same", GOOD.replace("int one = 2;", "int one = 1;"));
        module("file", GOOD.replace("A.java", "B.java"));
        module("test", GOOD.replace("a.ATest a", "a.BTest a"));
        module("method", GOOD.replace("#adds", "#subtracts"));
        module("header", GOOD.replace("killed-by: ", "by: "));
        module("id", GOOD + GOOD);
        module("end", GOOD.replace("===", ""));
        module("two", GOOD.replace("===", "") + GOOD);
        Answer answer = check(scratch);
        assertThat(answer.exit).isEqualTo(1);
        assertThat(answer.text)
                .startsWith("11 lists")
                .contains("none X1: the old text is 0 times in")
                .contains("twice X1: the old text is 2 times in")
                .contains("same X1: the new text is the old one in")
                .contains("file X1: no file")
                .contains("test X1: no test class a.BTest")
                .contains("method X1: no method a.ATest#subtracts")
                .contains("header X1: id, file, killed-by, old and new are required")
                .contains("id X1: this id is there twice")
                .contains("two X1: there is no === before the next id")
                .contains("end: the last block has no ===")
                .doesNotContain("good X1");
    }

    private void module(String name, String list) throws IOException {
        write(name + "/src/test/mutants.txt", list);
        write(name + "/src/main/java/a/A.java", "class A { int one = 1; int two = 2; }\n");
        write(name + "/src/test/java/a/ATest.java", "class ATest { void adds() {} }\n");
    }

    private void write(String name, String content) throws IOException {
        Path file = scratch.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private static Answer check(Path root) throws IOException, InterruptedException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String program = ROOT.resolve(".ci/Mutants.java").toString();
        Process process = new ProcessBuilder(java, program, "check", root.toString())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(process.waitFor(), text.replace("\r", ""));
    }
}
