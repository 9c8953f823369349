// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Arguments by which nothing can be measured are refused before anything is. */
class SettingsTest {

    @ParameterizedTest
    @CsvSource({
        "--pairs, 0, --pairs must be at least 1",
        "--pairs, -1, --pairs must be at least 1",
        "--pairs, many, '--pairs must be a number, was many'",
        "--seconds, 0, --seconds must be",
        "--seconds, -1, --seconds must be",
        "--seconds, NaN, --seconds must be",
        "--seconds, 0.0001, --seconds must be",
        "--seconds, 1e300, --seconds must be",
        "--blocks, 0, --blocks must be at least 1",
        "--disk-mib, 0, sizes are multiples of 16 MiB",
        "--disk-mib, -16, sizes are multiples of 16 MiB",
        "--mib, 17592186044432, sizes are multiples of 16 MiB", // 16 MiB, if it wrapped around
    })
    void aValueByWhichNothingIsMeasuredIsRefused(String name, String value, String complaint) {
        assertThatThrownBy(() -> Settings.parse(new String[] {"cufile", name, value}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(complaint);
    }

    @Test
    void theLeastValuesAreAccepted() {
        Settings settings = Settings.parse(new String[] {
            "cufile", "--mib", "16", "--disk-mib", "16", "--blocks", "1", "--pairs", "1", "--seconds", "0.001"
        });
        assertThat(settings.sizes()).isEqualTo(new Settings.Sizes(16 << 20, 16 << 20, 1));
        assertThat(settings.pairs()).isOne();
        assertThat(settings.nanos()).isEqualTo(1_000_000);
    }
}
