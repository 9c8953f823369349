// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import java.util.ArrayDeque;

/**
 * Mapped slots for copies between GL's buffers and slots that GL does not know: uploads, downloads and the edges
 * of blocks come in plain memory, since to allocate theirs must not wait for the thread of the context.
 *
 * <p><b>Threading:</b> the thread of the context.
 */
final class BounceSlots {

    private static final int MOST_IDLE = 4;

    private final GlContext context;
    private final ArrayDeque<GlSlot> idle = new ArrayDeque<>();

    BounceSlots(GlContext context) {
        this.context = context;
        context.atEnd(this::close);
    }

    /**
     * Takes one.
     *
     * @throws io.penstock.PenstockException with GL's answer if there is no memory left
     */
    GlSlot take(long bytes) {
        GlSlot known = idle.poll();
        if (known != null && known.bytes() >= bytes) {
            return known;
        }
        if (known != null) {
            known.free();
        }
        return GlSlot.allocate(context, bytes, false);
    }

    void give(GlSlot slot) {
        if (idle.size() < MOST_IDLE) {
            idle.push(slot);
        } else {
            slot.free();
        }
    }

    private void close() {
        idle.forEach(GlSlot::free);
        idle.clear();
    }
}
