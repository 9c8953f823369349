// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

/** A {@link Pinned} with a callback that frees the resource. */
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
