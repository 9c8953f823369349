// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The details of a {@link PenstockException}; backends create one per failure.
 *
 * @param outcome how much of the transfer took place
 * @param nativeError the error of the native call, if one failed
 * @param pairBytes the bytes moved for each pair; empty if unknown
 */
@SuppressWarnings("ArrayRecordComponent") // copied in, never exposed
public record Failure(Outcome outcome, @Nullable NativeError nativeError, long... pairBytes) implements Serializable {

    /** Nothing was started, and no native call failed. */
    public static final Failure NOT_STARTED = new Failure(Outcome.NOT_STARTED, null);

    public Failure {
        pairBytes = pairBytes.clone();
    }

    long bytes() {
        long sum = 0;
        for (long bytes : pairBytes) {
            sum += bytes;
        }
        return sum;
    }

    long bytes(int pair) {
        return pair < pairBytes.length ? pairBytes[pair] : 0;
    }
}
