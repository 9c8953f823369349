// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackendChoiceTest {

    @TempDir
    Path folder;

    private static String chosen(Map<String, String> properties, Map<String, String> environment) {
        Properties system = new Properties();
        system.putAll(properties);
        return Options.none().backend(system, environment);
    }

    @Test
    void thePropertyWinsOverTheVariableAndHostMemoryIsTheDefault() {
        Map<String, String> variable = Map.of("PENSTOCK_BACKEND", "cufile");
        assertThat(chosen(Map.of("penstock.backend", "gl"), variable)).isEqualTo("gl");
        assertThat(chosen(Map.of(), variable)).isEqualTo("cufile");
        assertThat(chosen(Map.of(), Map.of())).isEqualTo("host");
    }

    @Test
    void blanksSayNothing() {
        assertThat(chosen(Map.of("penstock.backend", " "), Map.of("PENSTOCK_BACKEND", " cufile\n")))
                .isEqualTo("cufile");
        assertThat(chosen(Map.of("penstock.backend", ""), Map.of("PENSTOCK_BACKEND", "")))
                .isEqualTo("host");
    }

    @Test
    void theFileOfOptionsIsAskedLast() throws IOException {
        String file = Files.writeString(folder.resolve("penstock.properties"), "penstock.backend = gl\n")
                .toString();
        assertThat(chosen(Map.of("penstock.config", file), Map.of())).isEqualTo("gl");
        assertThat(chosen(Map.of("penstock.config", file), Map.of("PENSTOCK_BACKEND", "cufile")))
                .isEqualTo("cufile");
        assertThat(chosen(Map.of(), Map.of("PENSTOCK_CONFIG", file))).isEqualTo("gl");
    }
}
