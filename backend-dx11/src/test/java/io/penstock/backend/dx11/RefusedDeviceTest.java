// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BackendUnavailableException;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.paths.Dx11Provider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Devices that are refused, and the reasons. */
@Tag("fake")
@ExtendWith(Direct3dFake.class)
class RefusedDeviceTest {

    private static final int HARDWARE = 1; // D3D_DRIVER_TYPE

    @Test
    void aDeviceOfOneThreadIsRefused() {
        long[] single = new long[1];
        int result = D3d11.Exports.D3D11CreateDevice(
                0,
                HARDWARE,
                0,
                D3d11.CREATE_SINGLETHREADED,
                new int[] {0xb000},
                1,
                D3d11.Exports.SDK_VERSION,
                single,
                0,
                0);
        assertThat(result).isZero();
        assertThatThrownBy(() -> new Dx11Provider().open(Dx11s.resolved(Dx11s.on(single[0]))))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("D3D11_CREATE_DEVICE_SINGLETHREADED");
        assertThat(Com.Release(single[0])).isZero();
    }

    @Test
    void requiredFencesThatAreAbsentAreReportedWithTheirReason() {
        long device = Dx11s.device();
        assertThatThrownBy(() -> new Dx11Provider()
                        .open(Dx11s.resolved(Dx11s.on(device).with(Dx11Options.COPY_COMPLETION, CopyCompletion.FENCE))))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no ID3D11Device5");
        assertThat(Com.Release(device)).isZero();
    }
}
