// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.NativeError;
import io.penstock.backend.opencl.ffi.OpenClError;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The driver does not want a file: a reason to go another way, or what a transfer fails with. */
final class SsgRefusal extends IOException {

    private static final long serialVersionUID = 1L;

    private final @Nullable NativeError nativeError;

    /** Refuses without an answer of the driver's. */
    SsgRefusal(String reason) {
        super(reason);
        this.nativeError = null;
    }

    private SsgRefusal(String request, NativeError error) {
        super(request + " refused: " + error);
        this.nativeError = error;
    }

    /** Goes on if an answer is a success: not if it is not negative, since one of the errors is positive. */
    static void check(String request, String call, int code) throws SsgRefusal {
        if (code != OpenClError.SUCCESS) {
            throw new SsgRefusal(request, OpenClFailure.error(call, code));
        }
    }

    /** Returns the driver's answer; null where it was not asked. */
    @Nullable
    NativeError nativeError() {
        return nativeError;
    }
}
