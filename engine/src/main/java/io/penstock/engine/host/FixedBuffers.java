// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import org.jspecify.annotations.Nullable;

/**
 * One ring's table of buffers: a mapping whose slabs are used often gets the slot of its index.
 *
 * <p><b>Threading:</b> the lane only. <b>Ownership:</b> a registered mapping stays locked in memory; {@link #sweep}
 * lets go of those that have been given back meanwhile.
 */
final class FixedBuffers {
    private static final int SLOTS = 1024;
    private static final int NONE = -1;
    // To register means to lock every page: worth it for memory that stays.
    private static final int USES_BEFORE = 64;
    private static final int REGISTERED = USES_BEFORE + 1;
    private static final int REFUSED = USES_BEFORE + 2;

    private final RingRegistration registration;
    private final @Nullable Registrable[] mappings;
    private final int[] uses;
    private boolean refused;
    private int seenRetired = Mapping.retiredCount();

    FixedBuffers(RingRegistration registration, boolean enabled) {
        this.registration = registration;
        refused = !enabled || registration.makeBufferTable(SLOTS) < 0;
        mappings = new Registrable[refused ? 0 : SLOTS];
        uses = new int[mappings.length];
    }

    /** Returns the slot of the mapping that memory lies in, or -1 if it is to be used by its address alone. */
    int slot(DeviceMemory memory) {
        if (memory instanceof Slab slab) {
            return slot(slab.mapping());
        }
        ForeignMapping mapping = memory instanceof ForeignMemory foreign ? foreign.mapping() : null;
        return mapping == null ? NONE : slot(mapping);
    }

    /** Clears the slots of mappings that have been given back, so that their pages are free again. */
    void sweep() {
        if (seenRetired == Mapping.retiredCount()) {
            return;
        }
        seenRetired = Mapping.retiredCount();
        for (int index = 0; index < mappings.length; index++) {
            Registrable mapping = mappings[index];
            if (mapping != null && mapping.isRetired()) {
                clear(index);
            }
        }
    }

    private int slot(Registrable mapping) {
        int index = mapping.index();
        if (index >= mappings.length || mapping.bytes() > Slabs.MAX_POOLED_BYTES) {
            return NONE;
        }
        // By identity, never by address: new pages may have the address of old ones that the table still holds.
        if (mappings[index] != mapping) {
            clear(index);
            mappings[index] = mapping;
        }
        if (uses[index] == REGISTERED) {
            return index;
        }
        if (refused || uses[index] == REFUSED || ++uses[index] < USES_BEFORE) {
            return NONE;
        }
        if (registration.updateBuffer(index, mapping.address(), mapping.bytes()) < 0) {
            uses[index] = REFUSED;
            // Of plain memory it is mostly RLIMIT_MEMLOCK, which will not do for the next one either.
            refused = mapping instanceof Mapping;
            return NONE;
        }
        uses[index] = REGISTERED;
        return index;
    }

    private void clear(int index) {
        if (uses[index] == REGISTERED) {
            registration.updateBuffer(index, 0, 0);
        }
        mappings[index] = null;
        uses[index] = 0;
    }
}
