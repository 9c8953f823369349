// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is read of UCX's variables. */
class UcxContextTest {

    @ParameterizedTest
    @CsvSource({
        "65536, 65536",
        "64k, 65536",
        "64KB, 65536",
        "2M, 2097152",
        "1gb, 1073741824",
        "8192b, 8192",
        "auto, 0",
        "'', 0"
    })
    void sizesAreReadAsUcxWritesThem(String size, long bytes) {
        assertThat(UcxContext.bytes(size)).isEqualTo(bytes);
    }
}
