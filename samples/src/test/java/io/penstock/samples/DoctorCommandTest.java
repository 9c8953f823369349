// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DoctorCommandTest {

    @Test
    void everyBackendIsListedWithItsReason() {
        CommandLineRun run = CommandLineRun.of("doctor");
        assertThat(run.code()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("host: available");
    }

    @Test
    void jsonHoldsTheSame() {
        CommandLineRun run = CommandLineRun.of("doctor", "--json");
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .startsWith("[")
                .contains("\"name\": \"host\"")
                .contains("\"available\": true")
                .contains("\"remedy\": ")
                .endsWith("]" + System.lineSeparator());
    }

    @Test
    void textIsQuotedForJson() {
        assertThat(DoctorCommand.quoted("a \"b\" \\ c\nd")).isEqualTo("\"a \\\"b\\\" \\\\ c\\u000ad\"");
    }
}
