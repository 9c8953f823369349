// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import io.penstock.NativeError;
import java.io.IOException;

/** A system call failed; carries the call, the code and the symbol (rule 401). */
public final class ErrnoException extends IOException {

    private static final long serialVersionUID = 1L;

    private final String message;
    private final NativeError nativeError;

    /**
     * @param call the system call
     * @param errno its error, as a positive number
     */
    public ErrnoException(String call, int errno) {
        this("", call, errno);
    }

    /** As above, with {@code request} in front of the native error: the request and its object. */
    public ErrnoException(String request, String call, int errno) {
        message = (request.isEmpty() ? "" : request + " failed: ") + call + " -> " + Errno.describe(errno);
        nativeError = new NativeError(call, errno, Errno.symbol(errno));
    }

    @Override
    public String getMessage() {
        return message;
    }

    /** Returns the error as a positive number. */
    public int errno() {
        return (int) nativeError.code();
    }

    /** Returns call, code and symbol. */
    public NativeError nativeError() {
        return nativeError;
    }
}
