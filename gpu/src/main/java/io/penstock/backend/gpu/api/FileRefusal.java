// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.api;

import io.penstock.NativeError;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a path refuses a file, memory or setting; the transfer takes another path. Has no stack trace: most files
 * that are opened are refused by some path, and only the message is used.
 */
public final class FileRefusal extends IOException {

    private static final long serialVersionUID = 1L;

    private final @Nullable NativeError nativeError;

    /** Creates a refusal without a native call. */
    public FileRefusal(String reason) {
        super(reason);
        this.nativeError = null;
    }

    FileRefusal(String message, NativeError error) {
        super(message);
        this.nativeError = error;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    /** Returns the native error code; 0 without a native call. */
    public int code() {
        return nativeError == null ? 0 : (int) nativeError.code();
    }
}
