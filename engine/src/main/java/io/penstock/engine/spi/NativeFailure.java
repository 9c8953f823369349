// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.NativeError;

/**
 * What a failed native request means to the engine.
 *
 * @param error call, code and symbol
 * @param kind what to do about it
 * @param note what a message says beside the answer, such as whose fault it was; may be empty
 */
public record NativeFailure(NativeError error, Kind kind, String note) {

    /** Makes one of which the answer says all. */
    public NativeFailure(NativeError error, Kind kind) {
        this(error, kind, "");
    }

    /** What can be done about a failure. */
    public enum Kind {
        /** The engine submits the request again (EINTR, EAGAIN of a busy queue), a bounded number of times. */
        RETRY,
        /** Nothing was started and the caller may try again. */
        TRANSIENT,
        /** The request cannot work. */
        PERMANENT,
        /** The request was given up because the lane asked for it. */
        CANCELLED,
        /** The device is gone. */
        LOST
    }

    /** Returns the native answer, and the note behind it. */
    @Override
    public String toString() {
        return note.isEmpty() ? error.toString() : error + "; " + note;
    }
}
