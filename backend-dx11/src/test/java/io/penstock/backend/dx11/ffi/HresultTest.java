// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HresultTest {

    @Test
    void resultsHaveTheirNames() {
        assertThat(Hresult.describe(Hresult.DXGI_ERROR_DEVICE_REMOVED))
                .isEqualTo("DXGI_ERROR_DEVICE_REMOVED (0x887a0005)");
        assertThat(Hresult.describe(Hresult.E_INVALIDARG)).isEqualTo("E_INVALIDARG (0x80070057)");
        assertThat(Hresult.describe(0x81234567)).isEqualTo("0x81234567");
    }

    @Test
    void onlyNegativeNumbersAreFailures() {
        assertThat(Hresult.failed(Hresult.S_FALSE)).isFalse();
        assertThat(Hresult.failed(Hresult.E_FAIL)).isTrue();
    }

    @Test
    void idsLieInMemoryAsWindowsLaysThem() {
        byte[] id = Vtable.guid("00112233-4455-6677-8899-aabbccddeeff");
        assertThat(id)
                .containsExactly(
                        0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff);
    }
}
