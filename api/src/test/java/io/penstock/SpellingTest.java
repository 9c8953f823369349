// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {

    @ParameterizedTest
    @CsvSource({
        "host, host, 0",
        "hsot, host, 1",
        "hst, host, 1",
        "hosts, host, 1",
        "hest, host, 1",
        "ohts, host, 2",
        "hxxt, host, 2",
        "cuda, host, 4",
        "ab, '', 2",
        "abcdef, badcfe, 3"
    })
    void editsAreCounted(String a, String b, int edits) {
        assertThat(Spelling.edits(a, b)).isEqualTo(edits);
        assertThat(Spelling.edits(b, a)).isEqualTo(edits);
    }

    @Test
    void theNearestIsFoundIfItIsNear() {
        List<String> words = List.of("host", "I/O queue", "opencl", "gl");
        assertThat(Spelling.nearest("hsot", words)).isEqualTo("host");
        assertThat(Spelling.nearest("I/O queues", words)).isEqualTo("I/O queue");
        assertThat(Spelling.nearest("openlc", words)).isEqualTo("opencl");
        assertThat(Spelling.nearest("lost", List.of("lots", "last", "host"))).isEqualTo("lots");
        assertThat(Spelling.nearest("memory", words)).isNull();
        assertThat(Spelling.nearest("io", words)).as("two edits are all of it").isNull();
        assertThat(Spelling.nearest("gll", words)).isEqualTo("gl");
    }
}
