// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.driver;

import io.penstock.NativeError;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** cuFile does not want something: a reason to go another way. */
public final class CuFileRefusal extends IOException {

    private static final long serialVersionUID = 1L;

    private final @Nullable NativeError nativeError;

    /** Refuses without having asked cuFile. */
    public CuFileRefusal(String reason) {
        super(reason);
        this.nativeError = null;
    }

    private CuFileRefusal(String message, NativeError error) {
        super(message);
        this.nativeError = error;
    }

    /** Goes on if a {@code CUfileError_t} is a success. */
    public static void check(String request, String call, long status) throws CuFileRefusal {
        if (CuFile.error(status) != CuFileError.SUCCESS) {
            NativeError error = CuFileFailure.error(call, status);
            throw new CuFileRefusal(request + " refused: " + error, error);
        }
    }

    /** Returns the number that cuFile answered; 0 where it was not asked. */
    public int code() {
        return nativeError == null ? 0 : (int) nativeError.code();
    }
}
