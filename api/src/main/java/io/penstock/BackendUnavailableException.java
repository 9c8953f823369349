// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import org.jspecify.annotations.Nullable;

/** The backend cannot be used here; choose another. The message lists what there is and why not. */
public final class BackendUnavailableException extends PenstockException {

    private static final long serialVersionUID = 1L;

    /** Makes one; for backends. */
    public BackendUnavailableException(String message, Failure failure, @Nullable Throwable cause) {
        super(message, failure, cause);
    }
}
