// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** What the bytes of a file or a buffer must be, as far as it is determined. */
final class Content {
    private final byte[] bytes;
    private final boolean[] known;
    private final int[] changed; // when a byte last became known or unknown
    private int clock;

    Content(byte[] initial, int capacity) {
        bytes = Arrays.copyOf(initial, capacity);
        known = new boolean[capacity];
        Arrays.fill(known, true);
        changed = new int[capacity];
    }

    int now() {
        return clock;
    }

    /** These bytes may be written from now on. */
    void unknown(int offset, int count) {
        clock++;
        Arrays.fill(known, offset, offset + count, false);
        Arrays.fill(changed, offset, offset + count, clock);
    }

    /** These bytes are this now. */
    void settle(int offset, byte[] values, int from, int count) {
        clock++;
        System.arraycopy(values, from, bytes, offset, count);
        Arrays.fill(known, offset, offset + count, true);
        Arrays.fill(changed, offset, offset + count, clock);
    }

    byte[] copy(int offset, int count) {
        return Arrays.copyOfRange(bytes, offset, offset + count);
    }

    /** Returns the first index in {@code seen} that cannot be; what has changed since then may be anything. */
    int wrong(int offset, ByteBuffer seen, int since) {
        for (int i = 0; i < seen.remaining(); i++) {
            int at = offset + i;
            if (known[at] && changed[at] <= since && seen.get(seen.position() + i) != bytes[at]) {
                return i;
            }
        }
        return -1;
    }

    boolean isKnown(int index) {
        return known[index];
    }

    boolean isUnchanged(int index, int since) {
        return known[index] && changed[index] <= since;
    }
}
