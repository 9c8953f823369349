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
    static final long HOST_THREW = Long.MIN_VALUE + 2;
    static final long DEVICE_THREW = Long.MIN_VALUE + 3;

    private static final long OWN_END = Long.MIN_VALUE + 16;
    private static final long HOST = Long.MIN_VALUE / 2;

    private Results() {}

    static long ofHost(long result) {
        return result < 0 ? HOST + result : result;
    }

    static long toHost(long result) {
        return result - HOST;
    }

    static boolean isOwn(long result) {
        return result < OWN_END;
    }

    static boolean isHost(long result) {
        return !isOwn(result) && result < HOST;
    }

    /**
     * Returns what a number of the queue's own means.
     *
     * @param thrown what the party threw, for the two results that say so
     */
    static NativeFailure own(long result, String thrown) {
        long code = result - Long.MIN_VALUE;
        if (result == CANCELLED) {
            return new NativeFailure(new NativeError("staging", code, "CANCELLED"), NativeFailure.Kind.CANCELLED);
        }
        if (result == TOO_WIDE) {
            NativeError error = new NativeError("staging", code, "BLOCKS_DO_NOT_FIT_SLOT");
            return new NativeFailure(error, NativeFailure.Kind.PERMANENT);
        }
        if (result == HOST_THREW) {
            return new NativeFailure(new NativeError("host I/O", code, thrown), NativeFailure.Kind.PERMANENT);
        }
        // What a device that throws has done to its memory is anyone's guess.
        return new NativeFailure(new NativeError("device copy", code, thrown), NativeFailure.Kind.LOST);
    }
}
