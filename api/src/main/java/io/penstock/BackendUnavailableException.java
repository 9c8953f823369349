// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import org.jspecify.annotations.Nullable;

/** The backend cannot be used here; choose another. The message lists every provider, and why it cannot be used. */
public final class BackendUnavailableException extends PenstockException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception; for backends. */
    public BackendUnavailableException(String message, Failure failure, @Nullable Throwable cause) {
        super(message, failure, cause);
    }
}
