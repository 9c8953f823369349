// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.cuda;

import io.penstock.renderer.cuda.ffi.Nvrtc;
import io.penstock.renderer.volume.Kernels;
import java.nio.charset.StandardCharsets;

/**
 * The kernels of {@code compose.cu} as PTX: compiled for the device if NVIDIA's runtime compiler is available,
 * otherwise as compiled by CUDA 13.0 from the same source ({@code nvcc -ptx -arch=compute_75 --fmad=false -x cu
 * compose.cu}). The first line of {@code compose.ptx}, added by hand, has the SHA-256 of that source; a test compares.
 */
final class ComposeModule {

    private ComposeModule() {}

    /**
     * Returns the PTX, with a final NUL.
     *
     * @param capability the device's, 90 for 9.0
     */
    static byte[] ptx(int capability) {
        if (!Nvrtc.isPresent()) {
            return (Kernels.source("compose.ptx") + '\0').getBytes(StandardCharsets.US_ASCII);
        }
        return Nvrtc.compile(
                Kernels.source("compose.cu"),
                "--gpu-architecture=compute_" + capability,
                "--fmad=false", // the processor rounds after each operation
                "--prec-div=true",
                "--prec-sqrt=true",
                "--ftz=false");
    }
}
