// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A transfer, or the backend, failed for a reason outside the caller's code; the subclasses sort by what to do next.
 *
 * <p>The message says what was asked, on what, and the native answer. Caller bugs are JDK exceptions instead.
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

    /** Returns the bytes known to have been moved for one pair of the transfer; 0 where that is not known. */
    public final long bytes(int pair) {
        return failure.bytes(pair);
    }

    /** Returns what the native call answered, where one was at fault. */
    public final Optional<NativeError> nativeError() {
        return Optional.ofNullable(failure.nativeError());
    }
}
