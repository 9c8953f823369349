// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ring of local visible memory, through which files reach buffers that the extension does not work on beside other work,
 * and the edges of transfers: the device copies between the two. The manual's advice for more data than that memory holds.
 *
 * <p><b>Threading:</b> the thread of the context.
 */
final class SsgRing {

    private final List<GlMemory> all = new ArrayList<>();
    private final ArrayDeque<GlMemory> free = new ArrayDeque<>();

    /** Makes as much of it as there is visible memory for: one slot in any case, unless the driver refuses. */
    SsgRing(GlContext context, SsgSizes sizes) {
        long piece = sizes.pieceBytes();
        GlMemory slot = GlMemory.allocateVisible(context, piece, Long.MAX_VALUE);
        while (slot != null) {
            all.add(slot);
            boolean more = (all.size() + 1) * piece <= sizes.ringBytes();
            slot = more ? GlMemory.allocateVisible(context, piece, sizes.visibleBytes()) : null;
        }
        free.addAll(all);
    }

    /** Returns whether there is none. */
    boolean isAbsent() {
        return all.isEmpty();
    }

    /** Returns its bytes. */
    long bytes() {
        return all.stream().mapToLong(GlMemory::bytes).sum();
    }

    /** Takes a slot; null if all are in use. */
    @Nullable
    GlMemory take() {
        return free.poll();
    }

    /** Takes a slot back, which the device has passed (rule 204). */
    void give(GlMemory slot) {
        free.add(slot);
    }

    /** Frees it; no slot is in use. */
    void close() {
        all.forEach(GlMemory::free);
        all.clear();
        free.clear();
    }
}
