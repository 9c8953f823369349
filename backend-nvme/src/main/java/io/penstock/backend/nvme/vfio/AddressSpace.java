// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.engine.kit.ffi.ErrnoException;
import java.io.IOException;

/**
 * A device that the kernel has lent to this process, and the addresses that the IOMMU translates for it.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> {@link #close} gives the device back, and unmaps all.
 *
 * <p><b>Errors:</b> {@link ErrnoException} with the request that the kernel refused.
 */
interface AddressSpace {

    /** Returns the descriptor of the device, which this address space owns. */
    int device();

    /** Maps memory of this process, in whole pages. */
    void map(long address, long iova, long bytes) throws ErrnoException;

    /**
     * Maps a part of a dma-buf, in whole pages.
     *
     * @param start offset in the dma-buf
     * @throws IOException if this way maps none
     */
    void mapDmaBuf(int descriptor, long start, long iova, long bytes) throws IOException;

    /** Ends a mapping, with the numbers by which it was made. */
    void unmap(long iova, long bytes) throws ErrnoException;

    void close();
}
