// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.bus;

import io.penstock.engine.spi.memory.HostMemory;

/**
 * Memory that both the processor and the controller address, contiguous for both.
 *
 * <p><b>Ownership:</b> {@link #free} ends the mapping; the controller must not use the memory any more.
 */
public interface DmaMemory extends HostMemory {

    /**
     * Returns the address of the first byte as the controller sees it, an IOVA where there is an IOMMU. Its offset in a page
     * of 4096 bytes is that of {@link #hostAddress}.
     */
    long busAddress();
}
