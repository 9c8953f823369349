// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bytes of a file or a buffer that one attempt at a time may write; the last attempt to begin counts. */
final class Place {
    final int offset;
    final int bytes;

    private final List<Attempt> attempts = new ArrayList<>();

    Place(int offset, int bytes) {
        this.offset = offset;
        this.bytes = bytes;
    }

    void isFor(Attempt attempt) {
        attempts.add(attempt);
    }

    /** Returns the attempt whose bytes are there in the end, or null. */
    @Nullable
    Attempt last() {
        return attempts.isEmpty() ? null : attempts.get(attempts.size() - 1);
    }

    /** Returns whether no transfer writes it, not even a cancelled one. */
    boolean isFree() {
        return attempts.stream().allMatch(Attempt::hasEnded);
    }

    /** Returns whether every transfer that may still write it was cancelled. */
    boolean isGivenUp() {
        return attempts.stream().allMatch(attempt -> attempt.hasEnded() || attempt.isCancelled());
    }
}
