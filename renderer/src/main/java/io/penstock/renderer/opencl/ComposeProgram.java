// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.opencl;

import io.penstock.renderer.opencl.ffi.OpenClCalls;
import io.penstock.renderer.volume.Kernels;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * The kernels of {@code compose.cu}, compiled by the device's driver.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class ComposeProgram implements AutoCloseable {

    private static final int MOST_LOG_BYTES = 1 << 16;

    private final long program;
    private final Map<String, Long> kernels = new HashMap<>();

    /**
     * Compiles the kernels.
     *
     * @throws IllegalStateException with the compiler's log
     */
    ComposeProgram(long context, long device) {
        int[] error = new int[1];
        program = OpenClCalls.programOf(context, Kernels.source("compose.cu"), error);
        Answers.check(error[0], "clCreateProgramWithSource");
        int built = OpenClCalls.clBuildProgram(program, 1, new long[] {device}, options(device), 0, 0);
        if (built != 0) {
            String log = log(device);
            OpenClCalls.clReleaseProgram(program);
            throw new IllegalStateException("clBuildProgram -> " + built + ": " + log);
        }
    }

    /** The processor rounds after each operation; a device that supports it does so too. */
    private static String options(long device) {
        long[] abilities = new long[1];
        Answers.check(
                OpenClCalls.clGetDeviceInfo(
                        device, OpenClCalls.CL_DEVICE_SINGLE_FP_CONFIG, Long.BYTES, abilities, new long[1]),
                "clGetDeviceInfo");
        boolean exact = (abilities[0] & OpenClCalls.CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
        return "-cl-std=CL1.2" + (exact ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    }

    private String log(long device) {
        byte[] log = new byte[MOST_LOG_BYTES];
        long[] bytes = new long[1];
        int result = OpenClCalls.clGetProgramBuildInfo(
                program, device, OpenClCalls.CL_PROGRAM_BUILD_LOG, log.length, log, bytes);
        return result == 0 ? new String(log, 0, (int) bytes[0], StandardCharsets.UTF_8).strip() : "no log: " + result;
    }

    long kernel(String name) {
        return kernels.computeIfAbsent(name, wanted -> {
            int[] error = new int[1];
            long kernel = OpenClCalls.clCreateKernel(program, wanted, error);
            Answers.check(error[0], "clCreateKernel of " + wanted);
            return kernel;
        });
    }

    @Override
    public void close() {
        kernels.values().forEach(OpenClCalls::clReleaseKernel);
        OpenClCalls.clReleaseProgram(program);
    }
}
