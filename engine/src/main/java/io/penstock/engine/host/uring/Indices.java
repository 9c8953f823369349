// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import java.util.BitSet;

/** Allocates the smallest free index: positions in the tables of rings. Thread-safe. */
public final class Indices {
    private final BitSet taken = new BitSet(); // guarded by this

    public synchronized int take() {
        int index = taken.nextClearBit(0);
        taken.set(index);
        return index;
    }

    public synchronized void give(int index) {
        taken.clear(index);
    }
}
