// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FreshFakes.class)
class GpuPointTest {

    /** Such as a thread of Reactor's that hands a transfer to an I/O queue that is broken. */
    @Test
    void aPointIsPlacedFromAnyThreadWhichKeepsItsContext() {
        assertThat(Cuda.load(Fakes.libcuda().toString())).isEmpty();
        assertThat(Cuda.DRIVER.init(0)).isZero();
        GpuContext context = ContextChoice.open(GpuInfo.of(Cuda.DRIVER, 0), 0);
        long[] current = new long[1];
        assertThat(Cuda.DRIVER.ctxGetCurrent(current)).isZero();
        assertThat(current[0]).isNotEqualTo(context.handle());
        long before = current[0];
        GpuPoint point = new GpuPoint(context, 0, true, null);
        boolean[] placed = new boolean[1];
        point.place(() -> placed[0] = true);
        assertThat(placed[0]).isTrue();
        assertThat(point.nativeHandle()).isNotZero();
        assertThat(Cuda.DRIVER.ctxGetCurrent(current)).isZero();
        assertThat(current[0]).isEqualTo(before);
        point.free();
        context.leave();
    }
}
