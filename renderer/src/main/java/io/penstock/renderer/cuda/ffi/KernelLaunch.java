// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.cuda.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/**
 * Launches kernels whose parameters are all 8 bytes wide; the driver has read them when a launch returns.
 *
 * <p><b>Threading:</b> one thread at a time.
 *
 * <p><b>Ownership:</b> JNA frees its two small blocks of memory with it.
 */
public final class KernelLaunch {

    private static final int MOST_PARAMETERS = 16;

    private final Memory values = new Memory(8L * MOST_PARAMETERS);
    private final Memory pointers = new Memory(8L * MOST_PARAMETERS);

    /** Creates an instance. */
    public KernelLaunch() {
        for (int i = 0; i < MOST_PARAMETERS; i++) {
            pointers.setPointer(8L * i, values.share(8L * i));
        }
    }

    /**
     * Launches a kernel.
     *
     * @param blocks of {@code threads} threads each
     * @return the CUresult
     */
    public int run(long function, int blocks, int threads, long stream, long... arguments) {
        values.write(0, arguments, 0, arguments.length);
        return CudaDriver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, Pointer.NULL);
    }
}
