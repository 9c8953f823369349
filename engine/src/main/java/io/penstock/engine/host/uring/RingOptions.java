// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

/**
 * Sizes of a ring; the kernel rounds up to powers of two and clamps to its limits.
 *
 * @param entries maximum number of operations that one {@code enter} submits
 * @param completions maximum number of completions that have not been reaped; at least {@code entries}
 */
public record RingOptions(int entries, int completions) {

    public RingOptions {
        if (entries < 1 || completions < entries) {
            throw new IllegalArgumentException("entries must be at least 1 and completions at least as many, were "
                    + entries + " and " + completions);
        }
    }

    /** Returns options with room for twice as many completions as submissions. */
    public static RingOptions ofEntries(int entries) {
        return new RingOptions(entries, 2 * entries);
    }
}
