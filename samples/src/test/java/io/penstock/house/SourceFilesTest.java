// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SourceFilesTest {

    private static final int MAX_LINES = 500;

    private static final Path ROOT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();

    @Test
    void theSourcesAreFoundAtAll() throws IOException {
        assertThat(sources().map(file -> ROOT.relativize(file).toString().replace('\\', '/')))
                .contains(
                        "api/src/main/java/io/penstock/Backend.java",
                        "samples/src/test/java/io/penstock/house/SourceFilesTest.java");
    }

    @Test
    void noFileIsLongerThanAReaderIsPatient() throws IOException {
        assertThat(sources().filter(file -> lines(file).size() > MAX_LINES))
                .as("files over %d lines", MAX_LINES)
                .isEmpty();
    }

    @Test
    void everyFileNamesTheLicence() throws IOException {
        assertThat(sources().filter(file -> !lines(file).get(0).equals("// SPDX-License-Identifier: Apache-2.0")))
                .as("files whose first line is not the licence")
                .isEmpty();
    }

    @Test
    void everyPackageSaysWhatItIsFor() throws IOException {
        assertThat(sources()
                        .filter(file -> file.toString().contains("/src/main/java/io/"))
                        .map(Path::getParent)
                        .distinct()
                        .filter(directory -> !Files.exists(directory.resolve("package-info.java"))))
                .as("packages without package-info.java")
                .isEmpty();
    }

    private static Stream<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files
                    .filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !ROOT.relativize(file).toString().contains("target/"))
                    .filter(file -> !ROOT.relativize(file).toString().startsWith("."))
                    .toList()
                    .stream();
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
