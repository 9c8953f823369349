// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.cuda;

import io.penstock.renderer.cuda.ffi.Nvrtc;
import io.penstock.renderer.volume.Kernels;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

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
            byte[] made = resource("compose.ptx");
            return Arrays.copyOf(made, made.length + 1);
        }
        return Nvrtc.compile(
                new String(resource("compose.cu"), StandardCharsets.UTF_8),
                "--gpu-architecture=compute_" + capability,
                "--fmad=false", // the processor rounds after each operation
                "--prec-div=true",
                "--prec-sqrt=true",
                "--ftz=false");
    }

    private static byte[] resource(String name) {
        try (InputStream from = Objects.requireNonNull(Kernels.class.getResourceAsStream(name), name)) {
            return from.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
