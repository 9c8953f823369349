// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.volume;

import java.nio.ByteBuffer;

/**
 * A device that runs the kernels of {@code compose.cu}, in order.
 *
 * <p><b>Threading:</b> any thread, one at a time.
 */
public interface Kernels {

    /** Returns the address of new memory. */
    long allocate(long bytes);

    /** Frees memory, once the device has done everything before. */
    void free(long address);

    /** Copies bytes, from position to limit, to the device, after everything before. */
    void put(ByteBuffer from, long address);

    /** Copies bytes from the device, after everything before; fills the buffer from position to limit. */
    void get(long address, ByteBuffer to);

    /**
     * Runs a kernel after everything before.
     *
     * @param kernel its name
     * @param indices how many indices it handles, each by a thread of its own
     * @param arguments its parameters: addresses and numbers
     */
    void run(String kernel, long indices, long... arguments);
}
