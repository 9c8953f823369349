// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every option of every module has a row of docs/options.md, and each row its option. By their names in the sources, so
 * that no other module is built for it; {@code OptionsPageTest} of tools/house compares all that a row holds.
 */
@Tag("once")
class OptionRowsTest {

    private static final Path ROOT =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
    private static final Pattern CONSTANT = Pattern.compile("static final"
            + " Option<[^=]*=\\s*(?:OPTIONS\\s*\\.add\\(\\s*)?Option\\s*\\.\\w+\\(\\s*\"(penstock\\.[\\w.-]+)\"");
    private static final Pattern ROW = Pattern.compile("^\\| `(penstock\\.[\\w.-]+)` \\|", Pattern.MULTILINE);

    private static Set<String> names(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> declared() throws IOException {
        Set<String> names = new TreeSet<>();
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
                if (file.toString().endsWith("Options.java")) {
                    names.addAll(names(CONSTANT, Files.readString(file)));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return names;
    }

    @Test
    void everyOptionHasARowAndEveryRowAnOption() throws IOException {
        Set<String> declared = declared();
        Set<String> rows = names(ROW, Files.readString(ROOT.resolve("docs/options.md")));
        assertThat(declared).contains("penstock.queue.depth", "penstock.staging.workers", "penstock.ucx.gpu-direct");
        Set<String> without = new TreeSet<>(declared);
        without.removeAll(rows);
        rows.removeAll(declared);
        assertThat(without).as("options without a row in docs/options.md").isEmpty();
        assertThat(rows).as("rows of docs/options.md without an option").isEmpty();
    }
}
