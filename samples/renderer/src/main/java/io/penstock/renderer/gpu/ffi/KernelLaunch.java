// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gpu.ffi;

import com.sun.jna.Memory;

/**
 * Launches kernels whose parameters are all 8 bytes wide; the driver has read them when a launch returns.
 *
 * <p><b>Threading:</b> one thread at a time.
 *
 * <p><b>Ownership:</b> JNA frees its two small blocks of memory with it.
 */
public final class KernelLaunch {

    private static final int MOST_PARAMETERS = 16;

    private final GpuDriver driver;
    private final Memory values = new Memory(8L * MOST_PARAMETERS);
    private final Memory pointers = new Memory(8L * MOST_PARAMETERS);

    /** Creates an instance. */
    public KernelLaunch(GpuDriver driver) {
        this.driver = driver;
        for (int i = 0; i < MOST_PARAMETERS; i++) {
            pointers.setPointer(8L * i, values.share(8L * i));
        }
    }

    /**
     * Launches a kernel.
     *
     * @param blocks of {@code threads} threads each
     * @return the driver's result
     */
    public int run(long function, int blocks, int threads, long stream, long... arguments) {
        values.write(0, arguments, 0, arguments.length);
        return driver.launchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, null);
    }
}
