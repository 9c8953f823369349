// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;

/** Makes the device begin with what a queue holds. A driver need not start a command before. */
public final class Flush {

    private Flush() {}

    /**
     * Flushes a queue. If that fails, waits until its commands have completed: their events, which hold their results,
     * might be signalled never otherwise.
     */
    public static void orFinish(long queue) {
        if (OpenCl.clFlush(queue) != OpenClError.SUCCESS) {
            OpenCl.clFinish(queue);
        }
    }
}
