// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import org.jspecify.annotations.Nullable;

/** The file, the buffer or the backend was closed before the request could be served. */
public final class ClosedException extends PenstockException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception; for backends. */
    public ClosedException(String message, Failure failure, @Nullable Throwable cause) {
        super(message, failure, cause);
    }
}
