// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import java.util.Arrays;

/** Sorted, disjoint ranges of bytes of one file or buffer. Immutable. */
final class Ranges {

    private final long[] starts;
    private final long[] ends;

    private Ranges(long[] starts, long[] ends) {
        this.starts = starts;
        this.ends = ends;
    }

    /** Returns the range from {@code start} to {@code end}, exclusive; none if they are equal. */
    static Ranges of(long start, long end) {
        return start == end ? new Ranges(new long[0], new long[0]) : new Ranges(new long[] {start}, new long[] {end});
    }

    /** Returns the ranges of {@code length} bytes at each of {@code starts}, in any order, overlapping or not. */
    static Ranges of(long[] starts, long length) {
        long[] sorted = starts.clone();
        Arrays.sort(sorted);
        long[] ends = new long[sorted.length];
        for (int i = 0; i < ends.length; i++) {
            ends[i] = sorted[i] + length;
        }
        return length == 0 ? of(0, 0) : merged(sorted, ends);
    }

    /** Returns the union with other ranges. */
    Ranges with(Ranges other) {
        int n = starts.length + other.starts.length;
        long[] mergedStarts = new long[n];
        long[] mergedEnds = new long[n];
        int mine = 0;
        int theirs = 0;
        for (int i = 0; i < n; i++) {
            boolean takeMine =
                    theirs == other.starts.length || (mine < starts.length && starts[mine] <= other.starts[theirs]);
            mergedStarts[i] = takeMine ? starts[mine] : other.starts[theirs];
            mergedEnds[i] = takeMine ? ends[mine++] : other.ends[theirs++];
        }
        return merged(mergedStarts, mergedEnds);
    }

    // Joins neighbours in place; the starts are sorted.
    private static Ranges merged(long[] starts, long[] ends) {
        int n = 0;
        for (int i = 0; i < starts.length; i++) {
            if (n > 0 && starts[i] <= ends[n - 1]) {
                ends[n - 1] = Math.max(ends[n - 1], ends[i]);
            } else {
                starts[n] = starts[i];
                ends[n++] = ends[i];
            }
        }
        return new Ranges(Arrays.copyOf(starts, n), Arrays.copyOf(ends, n));
    }

    /** Returns true if a byte is in both. */
    boolean overlaps(Ranges other) {
        if (isEmpty() || other.isEmpty() || start() >= other.end() || other.start() >= end()) {
            return false; // the usual case: the hulls are disjoint
        }
        int mine = 0;
        int theirs = 0;
        while (mine < starts.length && theirs < other.starts.length) {
            if (starts[mine] < other.ends[theirs] && other.starts[theirs] < ends[mine]) {
                return true;
            }
            if (ends[mine] <= other.ends[theirs]) {
                mine++;
            } else {
                theirs++;
            }
        }
        return false;
    }

    boolean isEmpty() {
        return starts.length == 0;
    }

    private long start() {
        return starts[0];
    }

    private long end() {
        return ends[ends.length - 1];
    }
}
