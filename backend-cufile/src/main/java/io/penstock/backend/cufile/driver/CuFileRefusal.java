// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.driver;

import io.penstock.NativeError;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown if cuFile refuses a file, memory or setting; the transfer takes another path. */
public final class CuFileRefusal extends IOException {

    private static final long serialVersionUID = 1L;

    private final @Nullable NativeError nativeError;

    /** Creates a refusal without a cuFile call. */
    public CuFileRefusal(String reason) {
        super(reason);
        this.nativeError = null;
    }

    private CuFileRefusal(String message, NativeError error) {
        super(message);
        this.nativeError = error;
    }

    /** Throws unless a {@code CUfileError_t} is a success. */
    public static void check(String request, String call, long status) throws CuFileRefusal {
        if (CuFile.error(status) != CuFileError.SUCCESS) {
            NativeError error = CuFileFailure.error(call, status);
            throw new CuFileRefusal(request + " refused: " + error, error);
        }
    }

    /** Returns cuFile's error code; 0 if cuFile was not called. */
    public int code() {
        return nativeError == null ? 0 : (int) nativeError.code();
    }
}
