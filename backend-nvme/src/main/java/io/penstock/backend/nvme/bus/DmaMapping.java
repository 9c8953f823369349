// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.bus;

/**
 * What a controller can address.
 *
 * <p><b>Ownership:</b> {@link #free} ends the mapping; the controller must not use the memory any more.
 */
public interface DmaMapping {

    /**
     * Returns the address of the first byte as the controller sees it, an IOVA where there is an IOMMU. Its offset in a
     * page of 4096 bytes is the memory's own offset.
     */
    long busAddress();

    /** Ends the mapping. Called once. */
    void free();
}
