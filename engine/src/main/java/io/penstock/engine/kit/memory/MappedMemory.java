// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import io.penstock.engine.spi.DeviceMemory;
import org.jspecify.annotations.Nullable;

/**
 * Memory that the processor reaches and that may be registered with io_uring: a slab, or device memory that a driver
 * has mapped.
 */
public interface MappedMemory extends DeviceMemory {

    /** Returns the mapping that contains it; null if registration is not worthwhile. */
    @Nullable
    MemoryMapping mapping();
}
