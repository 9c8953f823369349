// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import org.jspecify.annotations.Nullable;

/** The request failed and would fail again (EIO, ENOSPC, a deadline that expired in flight). */
public final class PermanentStorageException extends PenstockException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception; for backends. */
    public PermanentStorageException(String message, Failure failure, @Nullable Throwable cause) {
        super(message, failure, cause);
    }
}
