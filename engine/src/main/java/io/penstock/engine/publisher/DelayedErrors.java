// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import org.jspecify.annotations.Nullable;

/** The first of several errors, with the others suppressed in it, up to a bound. Not thread-safe. */
public final class DelayedErrors {

    private static final int MOST_SUPPRESSED = 16;

    private @Nullable Throwable first;
    private int suppressed;

    public void add(Throwable error) {
        if (suppressed < MOST_SUPPRESSED) {
            suppressed += first == null || first == error ? 0 : 1;
            addLast(error);
        }
    }

    /** Adds the last error, regardless of the bound. */
    void addLast(Throwable error) {
        if (first == null) {
            first = error;
        } else if (first != error) { // a Throwable cannot suppress itself
            first.addSuppressed(error);
        }
    }

    /** Returns the first, or null if there was none. */
    @Nullable
    public Throwable first() {
        return first;
    }
}
