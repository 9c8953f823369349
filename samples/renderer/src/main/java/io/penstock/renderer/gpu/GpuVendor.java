// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gpu;

import io.penstock.backend.hip.HipStream;
import io.penstock.renderer.gpu.ffi.GpuDriver;
import io.penstock.renderer.gpu.ffi.RuntimeCompiler;
import io.penstock.renderer.volume.Kernels;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What CUDA and HIP do differently. */
enum GpuVendor {

    /**
     * NVIDIA's. The kernels of {@code compose.cu} are compiled for the device if NVIDIA's runtime compiler is available,
     * otherwise they are those that CUDA 13.0 has compiled from the same source ({@code nvcc -ptx -arch=compute_75
     * --fmad=false -x cu compose.cu}). The first line of {@code compose.ptx}, added by hand, has the SHA-256 of that
     * source; a test compares.
     */
    CUDA("cu", 1 /* CU_POINTER_ATTRIBUTE_CONTEXT */) {

        @Override
        byte[] image(GpuDriver driver) {
            Optional<RuntimeCompiler> compiler = RuntimeCompiler.nvrtc();
            if (compiler.isEmpty()) {
                return (Kernels.source("compose.ptx") + '\0').getBytes(StandardCharsets.US_ASCII);
            }
            int[] device = new int[1];
            check(driver, driver.ctxGetDevice(device), "ctxGetDevice");
            int[] major = new int[1];
            check(driver, driver.deviceGetAttribute(major, COMPUTE_CAPABILITY_MAJOR, device[0]), "deviceGetAttribute");
            int[] minor = new int[1];
            check(driver, driver.deviceGetAttribute(minor, COMPUTE_CAPABILITY_MINOR, device[0]), "deviceGetAttribute");
            return compiler.get()
                    .compile(
                            Kernels.source("compose.cu"),
                            "--gpu-architecture=compute_" + (10 * major[0] + minor[0]),
                            "--fmad=false", // the processor rounds after each operation
                            "--prec-div=true",
                            "--prec-sqrt=true",
                            "--ftz=false");
        }

        @Override
        String nameOf(GpuDriver driver, int error) {
            return GpuDriver.cudaName(driver, error);
        }
    },

    /** AMD's. The kernels are compiled for the current device: no code object is for all of AMD's. */
    HIP("hip", 9 /* HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: contexts are devices */) {

        @Override
        byte[] image(GpuDriver driver) {
            return hiprtc().orElseThrow().compile(Kernels.source("compose.cu"), ROUNDS_AFTER_EACH_OPERATION);
        }

        @Override
        String nameOf(GpuDriver driver, int error) {
            return driver.errorName(error);
        }
    };

    /** As the processor does; HIP divides and takes square roots exactly by default. */
    static final String ROUNDS_AFTER_EACH_OPERATION = "-ffp-contract=off";

    private static final int COMPUTE_CAPABILITY_MAJOR = 75;
    private static final int COMPUTE_CAPABILITY_MINOR = 76;

    private final String prefix;
    private final int contextAttribute;

    GpuVendor(String prefix, int contextAttribute) {
        this.prefix = prefix;
        this.contextAttribute = contextAttribute;
    }

    /** Returns AMD's compiler, if there is one beside the open runtime. */
    static Optional<RuntimeCompiler> hiprtc() {
        return RuntimeCompiler.hiprtc(HipStream.library());
    }

    /** Returns the kernels as the driver loads them; the context is current. */
    abstract byte[] image(GpuDriver driver);

    /** Returns the attribute of an address that is the context of its memory. */
    int contextAttribute() {
        return contextAttribute;
    }

    abstract String nameOf(GpuDriver driver, int error);

    void check(GpuDriver driver, int answer, String call) {
        check(driver, answer, call, "");
    }

    /** Throws with the vendor's name of a call unless it has succeeded. */
    void check(GpuDriver driver, int answer, String call, String of) {
        if (answer != 0) {
            throw new IllegalStateException(
                    GpuDriver.symbol(prefix, call) + of + " -> " + nameOf(driver, answer) + " (" + answer + ")");
        }
    }
}
