// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaGpu;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FreshFakes.class)
class CudaPointTest {

    /** Such as a thread of Reactor's that hands a transfer to an I/O queue that is broken. */
    @Test
    void aPointIsPlacedFromAnyThreadWhichKeepsItsContext() {
        assertThat(Cuda.load(Fakes.libcuda().toString())).isEmpty();
        assertThat(Cuda.cuInit(0)).isZero();
        CudaContext context = CudaContext.open(CudaGpu.of(0), 0);
        long[] current = new long[1];
        assertThat(Cuda.cuCtxGetCurrent(current)).isZero();
        assertThat(current[0]).isNotEqualTo(context.handle());
        long before = current[0];
        CudaPoint point = new CudaPoint(context, 0, true, null);
        boolean[] placed = new boolean[1];
        point.place(() -> placed[0] = true);
        assertThat(placed[0]).isTrue();
        assertThat(point.nativeHandle()).isNotZero();
        assertThat(Cuda.cuCtxGetCurrent(current)).isZero();
        assertThat(current[0]).isEqualTo(before);
        point.free();
        context.leave();
    }
}
