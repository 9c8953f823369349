// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

/** A {@link Pinned} of its own: the count, and what frees. */
final class Pins extends Pinned {

    private final Runnable free;

    Pins(Runnable free) {
        this.free = free;
    }

    @Override
    void free() {
        free.run();
    }

    /** As {@link #retire}. */
    boolean close() {
        return retire();
    }

    boolean isClosed() {
        return isRetired();
    }
}
