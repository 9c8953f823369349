// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import org.jspecify.annotations.Nullable;

/** Device memory that may lie in a mapping of its driver's. */
public interface ForeignMemory extends DeviceMemory {

    /** Returns the mapping, to be registered where the memory is used often; null where that is not worth it. */
    @Nullable
    ForeignMapping mapping();
}
