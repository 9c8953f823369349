// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BackendChoiceTest {

    @Test
    void thePropertyWinsOverTheVariableAndHostMemoryIsTheDefault() {
        assertThat(Backends.chosen("gl", "cufile")).isEqualTo("gl");
        assertThat(Backends.chosen(null, "cufile")).isEqualTo("cufile");
        assertThat(Backends.chosen(null, null)).isEqualTo("host");
    }

    @Test
    void blanksSayNothing() {
        assertThat(Backends.chosen(" ", " cufile\n")).isEqualTo("cufile");
        assertThat(Backends.chosen("", "")).isEqualTo("host");
    }
}
