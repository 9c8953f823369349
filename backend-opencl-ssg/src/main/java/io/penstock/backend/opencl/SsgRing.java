// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ring of persistent memory, through which files reach buffers that a disk does not: the device copies between the two,
 * at the speed of its own memory. The vendor's advice for more data than its persistent heap holds.
 *
 * <p><b>Threading:</b> made and closed by anyone, before and after; slots are taken and given by the lane.
 */
final class SsgRing {

    private final List<ClSpan> all = new ArrayList<>();
    private final ArrayDeque<ClSpan> free = new ArrayDeque<>();

    /** Makes as much of it as there is persistent memory for, perhaps nothing. */
    SsgRing(PersistentMemory memory, SsgSizes sizes) {
        try {
            for (long bytes = sizes.pieceBytes(); bytes <= sizes.ringBytes(); bytes += sizes.pieceBytes()) {
                ClSpan slot = memory.take(sizes.pieceBytes());
                if (slot == null) {
                    break;
                }
                all.add(slot);
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        free.addAll(all);
    }

    /** Returns whether there is none. */
    boolean isAbsent() {
        return all.isEmpty();
    }

    /** Returns its bytes. */
    long bytes() {
        return all.stream().mapToLong(ClSpan::bytes).sum();
    }

    /** Takes a slot; null if all are in use. */
    @Nullable
    ClSpan take() {
        return free.poll();
    }

    /** Takes a slot back, which the device has passed (rule 204). */
    void give(ClSpan slot) {
        free.add(slot);
    }

    /** Frees it; no slot is in use. */
    void close() {
        all.forEach(PersistentMemory::release);
        all.clear();
        free.clear();
    }
}
