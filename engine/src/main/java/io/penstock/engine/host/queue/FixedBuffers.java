// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.host.uring.RingRegistration;
import io.penstock.engine.kit.memory.MappedMemory;
import io.penstock.engine.kit.memory.MemoryMapping;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import org.jspecify.annotations.Nullable;

/**
 * One ring's table of buffers: a mapping whose slabs are used often is registered at its index.
 *
 * <p><b>Threading:</b> the I/O queue only. <b>Ownership:</b> a registered mapping stays locked in memory; {@link
 * #sweep} unregisters buffers that have been freed meanwhile.
 */
final class FixedBuffers {
    private static final int BUFFERS = 1024;
    private static final int NONE = -1;
    // Registering locks every page: worth it for long-lived memory.
    private static final int USES_BEFORE = 64;
    private static final int REGISTERED = USES_BEFORE + 1;
    private static final int REFUSED = USES_BEFORE + 2;

    private final RingRegistration registration;
    private final @Nullable MemoryMapping[] mappings;
    private final int[] uses;
    private boolean refused;
    private int seenRetired = MemoryMapping.retiredCount();

    FixedBuffers(RingRegistration registration, boolean enabled) {
        this.registration = registration;
        refused = !enabled || registration.makeBufferTable(BUFFERS) < 0;
        mappings = new MemoryMapping[refused ? 0 : BUFFERS];
        uses = new int[mappings.length];
    }

    /** Returns the index of the mapping that memory lies in, or -1 if it is not registered and is used by address. */
    int index(DeviceMemory memory) {
        MemoryMapping mapping = memory instanceof MappedMemory mapped ? mapped.mapping() : null;
        return mapping == null ? NONE : index(mapping, memory);
    }

    /** Clears the indexes of mappings that have been freed, which unlocks their pages. */
    void sweep() {
        if (seenRetired == MemoryMapping.retiredCount()) {
            return;
        }
        seenRetired = MemoryMapping.retiredCount();
        for (int index = 0; index < mappings.length; index++) {
            MemoryMapping mapping = mappings[index];
            if (mapping != null && mapping.isRetired()) {
                clear(index);
            }
        }
    }

    private int index(MemoryMapping mapping, DeviceMemory memory) {
        int index = mapping.index();
        if (index >= mappings.length || mapping.bytes() > Slabs.MAX_POOLED_BYTES) {
            return NONE;
        }
        // Compared by identity, never by address: new pages may have the address of old ones that are still in the
        // table.
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
            // For plain memory the cause is mostly RLIMIT_MEMLOCK, and then the next registration would fail too.
            refused = memory instanceof Slab;
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
