// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.gpu.api.ErrorCodes.Meaning;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CuFileErrorTest {

    @Test
    void everyNumberOfTheHeaderHasANameAndTheTwoGapsHaveNone() {
        for (int error = 5001; error <= 5050; error++) {
            boolean gap = error == 5021 || error == 5032;
            assertThat(CuFile.API.symbol(error).isEmpty()).as("%d", error).isEqualTo(gap);
        }
        assertThat(IntStream.rangeClosed(5001, 5050)
                        .mapToObj(CuFile.API::symbol)
                        .filter(name -> !name.isEmpty())
                        .distinct())
                .hasSize(48)
                .allSatisfy(name -> assertThat(name).startsWith("CU_FILE_"));
        assertThat(CuFile.API.describe(5008)).isEqualTo("CU_FILE_IO_NOT_SUPPORTED (5008)");
        assertThat(CuFile.API.describe(5021)).isEqualTo("5021");
    }

    @ParameterizedTest
    @ValueSource(ints = {5007, 5008, 5009, 5027, 5030, 5033, 5049})
    void errorsOfAFileOrAMachineMeanThatAnotherPathIsUsed(int error) {
        assertThat(CuFile.API.meaning(error)).isEqualTo(Meaning.FALL_OVER);
    }

    @ParameterizedTest
    @CsvSource({
        "5037, TRANSIENT",
        "5039, TRANSIENT",
        "5043, TRANSIENT",
        "5006, LOST",
        "5022, PERMANENT",
        "5044, PERMANENT",
        "4711, PERMANENT"
    })
    void othersAreTransientOrPermanentOrTheEndOfTheDriver(int error, Meaning meaning) {
        assertThat(CuFile.API.meaning(error)).isEqualTo(meaning);
    }

    @Test
    void aStatusIsTwoNumbersInOneRegister() {
        long status = 700L << 32 | 5011;
        assertThat(CuFile.error(status)).isEqualTo(5011);
        assertThat(CuFile.driverError(status)).isEqualTo(700);
    }
}
