// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.Option;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Holds the options of docs/lucene.md against the code. */
class OptionsPageTest {

    @Test
    void thePageHasEveryOption() throws IOException {
        Path page = Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../../docs/lucene.md");
        List<String> rows = Files.readAllLines(page).stream()
                .filter(line -> line.startsWith("| `penstock.lucene."))
                .toList();
        List<String> expected =
                LuceneOptions.all().stream().map(OptionsPageTest::row).toList();
        assertThat(rows).isEqualTo(expected);
    }

    @Test
    void theyAreKnownToTheServiceLoader() {
        assertThat(Backends.options()).containsAll(LuceneOptions.all());
    }

    private static String row(Option<?> option) {
        String fallback = Option.show(Objects.requireNonNull(option.fallback()));
        return "| `" + option.name() + "` | " + option.range() + " | "
                + (fallback.contains("*") ? "`" + fallback + "`" : fallback) + " | " + option.description() + " |";
    }
}
