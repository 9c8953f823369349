// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The facts that travel in a {@link PenstockException}; backends make one per failure.
 *
 * @param outcome how much of the transfer took place
 * @param nativeError what the native call answered, if one was at fault
 * @param pairBytes the bytes moved for each pair; empty where nothing is known
 */
@SuppressWarnings("ArrayRecordComponent") // copied on the way in, never handed out
public record Failure(Outcome outcome, @Nullable NativeError nativeError, long... pairBytes) implements Serializable {

    /** Nothing was started, and no native call was at fault. */
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
