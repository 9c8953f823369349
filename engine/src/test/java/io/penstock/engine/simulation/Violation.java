// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A rule that was broken; the message says which. Remembered, since the engine survives much of what is thrown at it.
 */
final class Violation extends AssertionError {
    private static final long serialVersionUID = 1;

    private static final AtomicReference<@Nullable String> FIRST = new AtomicReference<>(); // of what runs now

    Violation(String what) {
        super(what);
        FIRST.compareAndSet(null, what);
    }

    static void forget() {
        FIRST.set(null);
    }

    /** Returns the first one since {@link #forget}, thrown or not, without its stack. */
    static @Nullable Violation first() {
        String what = FIRST.get();
        return what == null ? null : new Violation(what);
    }
}
