// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.backend.cufile.fakes.Fakes;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The names of results. */
class CudaErrorTest {

    @ParameterizedTest
    @CsvSource({
        "1, CUDA_ERROR_INVALID_VALUE",
        "2, CUDA_ERROR_OUT_OF_MEMORY",
        "34, CUDA_ERROR_STUB_LIBRARY",
        "100, CUDA_ERROR_NO_DEVICE",
        "201, CUDA_ERROR_INVALID_CONTEXT",
        "500, CUDA_ERROR_NOT_FOUND",
        "600, CUDA_ERROR_NOT_READY",
        "700, CUDA_ERROR_ILLEGAL_ADDRESS",
        "719, CUDA_ERROR_LAUNCH_FAILED",
        "803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "999, CUDA_ERROR_UNKNOWN"
    })
    void aResultHasItsVendorsName(int result, String symbol) {
        assertThat(Cuda.DRIVER.symbol(result)).isEqualTo(symbol);
    }

    /** The fake's table was made from the vendor's reference, not from ours. */
    @Test
    void everyResultThatTheFakeNamesHasThatName() {
        NativeLibrary cuda = NativeLibrary.getInstance(Fakes.libcuda().toString(), Map.of());
        int named = 0;
        for (int result = 0; result < 1000; result++) {
            Pointer[] name = new Pointer[1];
            if (cuda.getFunction("cuGetErrorName").invokeInt(new Object[] {result, name}) == Cuda.SUCCESS) {
                assertThat(Cuda.DRIVER.symbol(result)).isEqualTo(name[0].getString(0));
                named++;
            }
        }
        assertThat(named).isGreaterThan(30);
    }

    @Test
    void aResultOfATimeToComeHasNoName() {
        assertThat(Cuda.DRIVER.symbol(Cuda.SUCCESS)).isEqualTo("CUDA_SUCCESS");
        assertThat(Cuda.DRIVER.symbol(12_345)).isEmpty();
    }
}
