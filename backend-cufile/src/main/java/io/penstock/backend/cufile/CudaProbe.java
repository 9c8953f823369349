// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Availability;
import io.penstock.Options;
import io.penstock.backend.cufile.ffi.Cuda;

/** Says what there is of a GPU, creating no context. */
final class CudaProbe {

    private CudaProbe() {}

    static Availability probe(Options options) {
        String absent = Cuda.load(options.get(CufileOptions.LIBCUDA));
        return Availability.absent(
                "no CUDA driver: " + absent,
                "install NVIDIA's driver, or name its libcuda.so.1 in " + CufileOptions.LIBCUDA);
    }
}
