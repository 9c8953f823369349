// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import java.util.function.IntSupplier;

/** Calls in a context, on any thread; that thread's own context is current again afterwards. */
final class CudaScope {

    private CudaScope() {}

    /** Returns what {@code call} answers, or why the context cannot be made current. */
    static int in(long context, IntSupplier call) {
        int pushed = Cuda.cuCtxPushCurrent_v2(context);
        if (pushed != CudaError.SUCCESS) {
            return pushed;
        }
        try {
            return call.getAsInt();
        } finally {
            Cuda.cuCtxPopCurrent_v2(new long[1]);
        }
    }
}
