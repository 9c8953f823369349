// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import java.util.Map;
import java.util.TreeMap;

/** Which bytes of a part have been written. Not thread-safe. */
final class Coverage {

    private final TreeMap<Integer, Integer> ends = new TreeMap<>(); // by start; apart from each other

    /** Adds some bytes, of which some may be covered already. */
    void add(int from, int to) {
        int start = from;
        int end = to;
        for (Map.Entry<Integer, Integer> near = ends.floorEntry(end);
                near != null && near.getValue() >= start;
                near = ends.floorEntry(end)) {
            start = Math.min(start, near.getKey());
            end = Math.max(end, near.getValue());
            ends.remove(near.getKey());
        }
        ends.put(start, end);
    }

    /** Returns whether the bytes up to {@code end} are covered, and none beyond. */
    boolean isUpTo(int end) {
        return ends.equals(Map.of(0, end));
    }
}
