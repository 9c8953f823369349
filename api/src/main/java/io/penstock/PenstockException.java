// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A transfer, or the backend, failed for a reason outside the caller's code; the subclasses are sorted by remedy.
 *
 * <p>The message names the request, its object, and the native error. Caller bugs are JDK exceptions instead.
 */
public abstract sealed class PenstockException extends RuntimeException
        permits BackendUnavailableException,
                TransientStorageException,
                PermanentStorageException,
                DeviceLostException,
                ClosedException {

    private static final long serialVersionUID = 1L;

    private final Failure failure;

    PenstockException(String message, Failure failure, @Nullable Throwable cause) {
        super(message, cause);
        this.failure = failure;
    }

    /** Returns how much of the transfer took place. */
    public final Outcome outcome() {
        return failure.outcome();
    }

    /** Returns the bytes known to have been moved, summed over all pairs. */
    public final long bytes() {
        return failure.bytes();
    }

    /** Returns the bytes known to have been moved for one pair of the transfer; 0 if unknown. */
    public final long bytes(int pair) {
        return failure.bytes(pair);
    }

    /** Returns the error of the native call, if one failed. */
    public final Optional<NativeError> nativeError() {
        return Optional.ofNullable(failure.nativeError());
    }
}
