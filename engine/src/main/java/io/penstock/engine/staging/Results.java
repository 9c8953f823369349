// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeFailure;

/**
 * The negative results of a queue. Three parties have numbers of their own: the queue at the very bottom, host I/O
 * below {@link #HOST}, the device above it.
 */
final class Results {

    static final long CANCELLED = Long.MIN_VALUE;
    static final long TOO_WIDE = Long.MIN_VALUE + 1;

    private static final long HOST_THREW = Long.MIN_VALUE + (1L << 32);
    private static final long DEVICE_THREW = Long.MIN_VALUE + (2L << 32);
    private static final long OWN_END = Long.MIN_VALUE + (3L << 32);
    private static final long HOST = Long.MIN_VALUE / 2;

    private Results() {}

    static long ofHost(long result) {
        return result < 0 ? HOST + result : result;
    }

    static long toHost(long result) {
        return result - HOST;
    }

    /** Returns the result of a piece that keeps what host I/O has thrown. */
    static long hostThrew(Piece piece) {
        return HOST_THREW + piece.id;
    }

    /** Returns the result of a piece that keeps what the device has thrown. */
    static long deviceThrew(Piece piece) {
        return DEVICE_THREW + piece.id;
    }

    static boolean isThrown(long result) {
        return isOwn(result) && result >= HOST_THREW;
    }

    static boolean isThrownByHost(long result) {
        return isThrown(result) && result < DEVICE_THREW;
    }

    /** Returns the id of the piece that keeps what was thrown. */
    static int thrower(long result) {
        return (int) (result - Long.MIN_VALUE);
    }

    static boolean isOwn(long result) {
        return result < OWN_END;
    }

    static boolean isHost(long result) {
        return !isOwn(result) && result < HOST;
    }

    /** Returns what a number of the queue's own means that stands for no exception. */
    static NativeFailure own(long result) {
        long code = result - Long.MIN_VALUE;
        if (result == CANCELLED) {
            return new NativeFailure(new NativeError("staging", code, "CANCELLED"), NativeFailure.Kind.CANCELLED);
        }
        return new NativeFailure(
                new NativeError("staging", code, "BLOCKS_DO_NOT_FIT_SLOT"), NativeFailure.Kind.PERMANENT);
    }

    /** Returns what an exception of the device's means: what it has done to its memory is anyone's guess. */
    static NativeFailure ofDevice(Throwable thrown) {
        return new NativeFailure(new NativeError("device copy", 0, thrown.toString()), NativeFailure.Kind.LOST);
    }
}
