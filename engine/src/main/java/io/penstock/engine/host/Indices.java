// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import java.util.BitSet;

/** Gives out the smallest number that is free: places in the tables of rings. Thread-safe. */
final class Indices {
    private final BitSet taken = new BitSet(); // guarded by this

    synchronized int take() {
        int index = taken.nextClearBit(0);
        taken.set(index);
        return index;
    }

    synchronized void give(int index) {
        taken.clear(index);
    }
}
