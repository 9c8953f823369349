// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An option that is wrong is named, with its value and what it must be. */
class SourceOptionsTest {

    @ParameterizedTest
    @CsvSource({
        "regionBytes, -1, must be a size of at least 1 byte",
        "splitBytes, many, must be a size of at least 1 byte",
        "regionBytes, 99999999999g, must be a size of at least 1 byte",
        "splitBytes, 0, must be at least 1 byte",
        "raw, maybe, must be true or false",
        "deviceMemory, maybe, must be true or false",
        "recursiveFileLookup, 2, must be true or false",
        "maxFilesPerTrigger, 1.5, must be a whole number",
        "maxFilesPerTrigger, 0, must be at least 1",
        "pathGlobFilter, '[', must be a pattern",
    })
    void aWrongOptionIsNamed(String name, String value, String complaint) {
        assertThatThrownBy(() -> SourceOptions.of(new CaseInsensitiveStringMap(Map.of("path", "/x", name, value))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name + " " + complaint)
                .hasMessageContaining("was " + value);
    }

    /** It would be the folder in which the driver was started. */
    @Test
    void anEmptyPathIsNoPath() {
        assertThatThrownBy(() -> SourceOptions.of(new CaseInsensitiveStringMap(Map.of("path", ""))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("path must not be empty");
    }
}
