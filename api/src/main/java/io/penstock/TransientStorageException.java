// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import org.jspecify.annotations.Nullable;

/** The same request may succeed later: no part of it was started (queue full, pool exhausted, EAGAIN). */
public final class TransientStorageException extends PenstockException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception; for backends. */
    public TransientStorageException(String message, Failure failure, @Nullable Throwable cause) {
        super(message, failure, cause);
    }
}
