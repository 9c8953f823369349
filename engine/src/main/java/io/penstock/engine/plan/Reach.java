// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.Transfer;

/**
 * Contiguous progress of each pair of a transfer: the bytes moved from its start without a gap. Segments end in any
 * order, so bytes beyond a gap may have been moved too; they do not count, since the caller cannot know their
 * positions.
 *
 * <p>Created when the first segment falls short; the I/O thread only.
 */
public final class Reach {

    private final Transfer transfer;
    private final long[] ends; // by pair

    public Reach(Transfer transfer) {
        this.transfer = transfer;
        this.ends = new long[transfer.pairs()];
        for (int pair = 0; pair < ends.length; pair++) {
            ends[pair] = transfer.pairLength(pair);
        }
    }

    /**
     * Records a segment that did not move all of its bytes.
     *
     * @param pair the first pair that it is part of
     * @param skip its start within that pair
     * @param bytes its length, which may extend into the following pairs
     * @param moved the bytes moved from its start
     */
    public void fellShort(int pair, long skip, long bytes, long moved) {
        long start = skip;
        long got = moved;
        long left = bytes;
        for (int part = pair; left > 0; part++) {
            long share = Math.min(left, transfer.pairLength(part) - start);
            if (got < share) {
                ends[part] = Math.min(ends[part], start + got);
            }
            got -= Math.min(got, share);
            left -= share;
            start = 0;
        }
    }

    /** Returns the bytes of a pair. */
    public long bytes(int pair) {
        return ends[pair];
    }

    /** Returns the bytes of all pairs. */
    public long bytes() {
        long sum = 0;
        for (long end : ends) {
            sum += end;
        }
        return sum;
    }

    /** Returns the bytes by pair. */
    public long[] byPair() {
        return ends.clone();
    }
}
