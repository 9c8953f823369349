// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

/**
 * How long a lane sleeps between two polls: little at first, more the longer nothing happens, so that a slow disk
 * costs no processor.
 */
final class SsgPause {

    private static final long LEAST_NANOS = 5_000;
    private static final long MOST_NANOS = 200_000;

    private long nanos = LEAST_NANOS;

    /** Begins with the shortest again: something has ended. */
    void reset() {
        nanos = LEAST_NANOS;
    }

    /** Returns the next pause, at most {@code limitNanos}, which is negative where there is no limit. */
    long next(long limitNanos) {
        long pause = nanos;
        nanos = Math.min(MOST_NANOS, 2 * nanos);
        return limitNanos < 0 ? pause : Math.min(pause, limitNanos);
    }
}
