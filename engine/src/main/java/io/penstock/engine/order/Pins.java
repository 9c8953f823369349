// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

/** A {@link Pinned} of its own: the count, and what frees. */
public final class Pins extends Pinned {

    private final Runnable free;

    public Pins(Runnable free) {
        this.free = free;
    }

    @Override
    public void free() {
        free.run();
    }

    /** As {@link #retire}. */
    public boolean close() {
        return retire();
    }

    public boolean isClosed() {
        return isRetired();
    }
}
