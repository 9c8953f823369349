// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;

/**
 * The cause of a failed native request, classified for the engine.
 *
 * @param error call, code and symbol
 * @param kind how to handle it
 * @param note an addition for the message, such as which side is at fault; may be empty
 */
public record NativeFailure(NativeError error, Kind kind, String note) {

    /** Creates a failure without a note. */
    public NativeFailure(NativeError error, Kind kind) {
        this(error, kind, "");
    }

    /** How to handle a failure. */
    public enum Kind {
        /** The engine submits the request again (EINTR, EAGAIN of a busy queue), a bounded number of times. */
        RETRY,
        /** Nothing was started; the caller may try again. */
        TRANSIENT,
        /** The request cannot work. */
        PERMANENT,
        /** The request was cancelled by the I/O queue. */
        CANCELLED,
        /** The device is gone. */
        LOST
    }

    /** Returns the exception to throw for a request that is not a transfer, such as an allocation. */
    public PenstockException exception(String request) {
        String message = request + " failed: " + this;
        Failure facts = new Failure(Outcome.NOT_STARTED, error);
        return switch (kind) {
            case LOST -> new DeviceLostException(message, facts, null);
            case TRANSIENT, RETRY -> new TransientStorageException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }

    /** Returns the native error, followed by the note. */
    @Override
    public String toString() {
        return note.isEmpty() ? error.toString() : error + "; " + note;
    }
}
