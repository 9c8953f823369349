// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.DriverProperties.Storage;
import io.penstock.backend.gpu.api.ErrorCodes.Meaning;
import io.penstock.backend.hip.fakes.HipDouble;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** hipFile's structures and errors. */
class HipFileTest {

    private static final HipFile FILES = HipFile.over(Hip.DRIVER);

    @Test
    void propertiesAreWhereTheHeaderHasThem() {
        ByteBuffer fields = ByteBuffer.allocate(72).order(ByteOrder.nativeOrder());
        fields.putInt(0, 1).putInt(4, 2).putLong(8, 4).putLong(16, 16_384);
        fields.putInt(24, 1 << 4 | 1 << 11).putInt(28, 1 << 1).putInt(32, 0b110);
        fields.putLong(40, 131_072)
                .putLong(48, 1024)
                .putLong(56, 1L << 33)
                .putInt(64, 128)
                .putInt(68, 5);
        DriverProperties properties = HipFile.properties(fields.array());
        assertThat(properties.reached()).containsExactly(Storage.NVME, Storage.NVME_P2P);
        assertThat(properties.allowsCompatibility()).isTrue();
        assertThat(properties.deviceCacheKilobytes()).isEqualTo(131_072);
        assertThat(properties.perBufferKilobytes()).isEqualTo(1024);
        assertThat(properties.maxPinnedKilobytes()).isEqualTo(1L << 33);
        assertThat(properties.maxBatch()).isEqualTo(128);
        assertThat(properties.batchTimeoutMillis()).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(ints = {5021, 5032, 5039, 5040, 5050})
    void codesThatAmdDoesNotUseHaveNoName(int error) {
        assertThat(FILES.symbol(error)).isEmpty();
        assertThat(FILES.meaning(error)).isEqualTo(Meaning.PERMANENT);
    }

    @ParameterizedTest
    @CsvSource({
        "5006, hipFileDriverClosing, LOST",
        "5008, hipFileIONotSupported, FALL_OVER",
        "5030, hipFileInternalError, FALL_OVER",
        "5037, hipFileBatchFull, TRANSIENT",
        "5022, hipFileInvalidValue, PERMANENT"
    })
    void codesHaveAmdsNamesAndARemedy(int error, String symbol, Meaning meaning) {
        assertThat(FILES.describe(error)).isEqualTo(symbol + " (" + error + ")");
        assertThat(FILES.meaning(error)).isEqualTo(meaning);
    }

    @Test
    void aNegativeOffsetIsAnErrorOfTheSystem() {
        HipDouble.require();
        HipDouble.reset();
        long answer = FILES.answer(FILES.read(0, 0, 4096, -1, 0));
        assertThat(FILES.failureOfCount("read", answer).error().toString()).isEqualTo("hipFileRead -> EINVAL (22)");
    }

    @Test
    void theCoreIsWhatNothingGoesWithout() {
        HipDouble.require();
        HipDouble.reset();
        assertThat(HipFile.absent()).doesNotContainAnyElementsOf(HipFile.core());
        for (String name : HipFile.core()) {
            assertThat(HipDouble.library(HipDouble.libhipfile()).getFunction(name))
                    .isNotNull();
        }
        assertThat(FILES.version()).isEqualTo(500);
    }
}
