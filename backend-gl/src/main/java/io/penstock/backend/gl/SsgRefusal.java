// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.NativeError;
import io.penstock.backend.gl.ffi.GlError;
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

    /** Goes on if GL has no error to tell. */
    static void check(String request, GlCall call) throws SsgRefusal {
        int code = GlFailure.takeError();
        if (code != GlError.NO_ERROR) {
            throw new SsgRefusal(request, new NativeError(call.vendorName(), code, GlError.symbol(code)));
        }
    }

    /** Returns the driver's answer; null where it was not asked. */
    @Nullable
    NativeError nativeError() {
        return nativeError;
    }
}
