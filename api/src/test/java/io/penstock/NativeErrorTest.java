// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NativeErrorTest {

    @Test
    void numbersAreWrittenAsTheirVendorsWriteThem() {
        assertThat(new NativeError("pread", 5, "EIO")).hasToString("pread -> EIO (5)");
        assertThat(new NativeError("clFinish", -5, "")).hasToString("clFinish -> -5");
        assertThat(new NativeError("GET", 0, "refused")).hasToString("GET -> refused");
        assertThat(new NativeError("Map", 0x887a0005L, "DXGI_ERROR_DEVICE_REMOVED"))
                .hasToString("Map -> DXGI_ERROR_DEVICE_REMOVED (0x887a0005)");
    }
}
