// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.NativeError;
import io.penstock.backend.dx11.ffi.Hresult;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** AMD's driver does not want something: a reason to go another way, or what a transfer fails with. */
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

    /** Goes on if an answer is a success. */
    static void check(String request, String call, int result) throws SsgRefusal {
        if (Hresult.failed(result)) {
            throw new SsgRefusal(request, Dx11Failure.error(call, result));
        }
    }

    /** Returns the driver's answer; null where it was not asked. */
    @Nullable
    NativeError nativeError() {
        return nativeError;
    }
}
