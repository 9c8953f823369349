// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many objects of a type hold native memory, handles or references now, in the whole process: tests check that none
 * is left.
 *
 * <p><b>Threading:</b> thread-safe; neither locks nor allocates.
 */
public final class LiveObjects {

    private static final ClassValue<AtomicLong> COUNTS = new ClassValue<>() {
        @Override
        protected AtomicLong computeValue(Class<?> type) {
            return new AtomicLong();
        }
    };

    private LiveObjects() {}

    /** Counts one more. */
    public static void add(Class<?> type) {
        COUNTS.get(type).incrementAndGet();
    }

    /** Counts one less. */
    public static void remove(Class<?> type) {
        COUNTS.get(type).decrementAndGet();
    }

    /** Returns how many there are. */
    public static long count(Class<?> type) {
        return COUNTS.get(type).get();
    }
}
