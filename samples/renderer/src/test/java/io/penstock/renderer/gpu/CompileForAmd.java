// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gpu;

import io.penstock.renderer.gpu.ffi.RuntimeCompiler;
import io.penstock.renderer.volume.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A program that compiles the kernels by HIPRTC, which must not meet another LLVM in its process. */
final class CompileForAmd {

    private CompileForAmd() {}

    /** Arguments: the HIP runtime, a folder for the code objects, and architectures. */
    public static void main(String[] arguments) throws IOException {
        RuntimeCompiler compiler = RuntimeCompiler.hiprtc(arguments[0]).orElseThrow();
        Path folder = Path.of(arguments[1]);
        String source = Kernels.source("compose.cu");
        for (String architecture : Arrays.asList(arguments).subList(2, arguments.length)) {
            String option = "--offload-arch=" + architecture;
            Files.write(
                    folder.resolve(architecture),
                    compiler.compile(source, GpuVendor.ROUNDS_AFTER_EACH_OPERATION, option));
            Files.write(folder.resolve(architecture + "-fused"), compiler.compile(source, option));
        }
        try {
            compiler.compile("nothing;", "--offload-arch=gfx90a");
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }
}
