// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.formats.ElementType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The table of ggml's types is the list of ggml. */
class GgmlTypeTest {

    private static List<String> list() throws IOException {
        try (InputStream in = Objects.requireNonNull(GgmlTypeTest.class.getResourceAsStream("/ggml-types.txt"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    @Test
    void eachTypeOfGgmlIsInTheTableWithItsSize() throws IOException {
        List<String> rows =
                list().stream().filter(line -> !line.startsWith("#")).toList();
        for (int number = 0; number < rows.size(); number++) {
            String[] row = rows.get(number).split(" ");
            assertThat(row[0]).isEqualTo(String.valueOf(number));
            if (row.length == 2) {
                assertThat(GgmlType.of(number)).as(row[1]).isNull();
                assertThat(GgmlType.story(number)).isEqualTo(row[1] + ", which ggml has removed");
            } else {
                assertThat(GgmlType.of(number))
                        .isEqualTo(new ElementType(row[1], Integer.parseInt(row[2]), Integer.parseInt(row[3])));
            }
        }
        for (int number = rows.size(); number < 1000; number++) {
            assertThat(GgmlType.of(number)).isNull();
        }
    }

    @Test
    void theTableHasTheDateOfTheList() throws IOException {
        assertThat(list().get(0)).contains("as of " + GgmlType.AS_OF);
        assertThat(GgmlType.story(43))
                .isEqualTo("not a type of ggml as of " + GgmlType.AS_OF + ", perhaps a newer one");
    }
}
