// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.NativeError;

/**
 * What a failed native command means to the engine.
 *
 * @param error call, code and symbol
 * @param kind what to do about it
 */
public record NativeFailure(NativeError error, Kind kind) {

    /** What can be done about a failure. */
    public enum Kind {
        /** The engine submits the command again (EINTR, EAGAIN of a busy queue), a bounded number of times. */
        RETRY,
        /** Nothing was started and the caller may try again. */
        TRANSIENT,
        /** The request cannot work. */
        PERMANENT,
        /** The command was given up because the lane asked for it. */
        CANCELLED,
        /** The device is gone. */
        LOST
    }
}
