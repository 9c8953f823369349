// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.backend.opencl.ffi.OpenCl;

/**
 * A program with one kernel; the OpenCL functions for programs, which the backend does not use.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
public final class OpenClProgram implements AutoCloseable {

    static {
        Native.register(OpenClProgram.class, NativeLibrary.getInstance(OpenCl.LIBRARY.file()));
    }

    private final long program;
    private final long kernel;

    /** Compiles a source for the devices of a context, and creates its kernel of a name. */
    public OpenClProgram(long context, String source, String name) {
        int[] error = new int[1];
        try (Memory text = new Memory(source.length() + 1L)) {
            text.setString(0, source, "US-ASCII");
            program = clCreateProgramWithSource(context, 1, new long[] {Pointer.nativeValue(text)}, 0, error);
        }
        check("clCreateProgramWithSource", error[0]);
        check("clBuildProgram", clBuildProgram(program, 0, 0, "", 0, 0));
        kernel = clCreateKernel(program, name, error);
        check("clCreateKernel", error[0]);
    }

    /** Enqueues it, for this many items, with arguments of 8 bytes each. */
    public void run(long queue, long items, long... arguments) {
        for (int i = 0; i < arguments.length; i++) {
            check("clSetKernelArg", clSetKernelArg(kernel, i, Long.BYTES, new long[] {arguments[i]}));
        }
        check("clEnqueueNDRangeKernel", clEnqueueNDRangeKernel(queue, kernel, 1, 0, new long[] {items}, 0, 0, 0, 0));
    }

    /**
     * Checks that a call has succeeded.
     *
     * @throws IllegalStateException with OpenCL's error
     */
    public static void check(String call, int answer) {
        if (answer != 0) {
            throw new IllegalStateException(call + " -> " + answer);
        }
    }

    @Override
    public void close() {
        clReleaseKernel(kernel);
        clReleaseProgram(program);
    }

    private static native long clCreateProgramWithSource(
            long context, int count, long[] sources, long lengths, int[] error);

    private static native int clBuildProgram(
            long program, int devices, long list, String options, long notify, long user);

    private static native long clCreateKernel(long program, String name, int[] error);

    private static native int clSetKernelArg(long kernel, int index, long bytes, long[] value);

    private static native int clEnqueueNDRangeKernel(
            long queue,
            long kernel,
            int dimensions,
            long offset,
            long[] items,
            long local,
            int waits,
            long waitList,
            long event);

    private static native int clReleaseKernel(long kernel);

    private static native int clReleaseProgram(long program);
}
