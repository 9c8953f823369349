// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.bus;

import io.penstock.Failure;
import io.penstock.PermanentStorageException;
import io.penstock.engine.kit.memory.HostMemory;

/**
 * One NVMe controller as PCI Express shows it: the registers of BAR0, and memory for DMA.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> {@link #close} gives the device back; no memory of this bus is in use then.
 */
public interface Bus extends AutoCloseable {

    /** What every register of a removed device reads as. */
    int GONE = -1;

    /** Returns the name of the controller, for messages; the PCI address where there is one. */
    String name();

    /** Reads a register; later loads of this thread see what the controller had written by DMA before. */
    int read(int offset);

    /** Writes a register; the controller then sees what this thread has stored in memory for DMA. */
    void write(int offset, int value);

    /**
     * Allocates memory for DMA; its content is undefined, and its bus address a multiple of 4096.
     *
     * @param bytes at least 1
     * @throws io.penstock.TransientStorageException if there is no memory, or the IOMMU maps no more
     */
    DmaMemory allocate(long bytes);

    /**
     * Maps memory of the application for DMA, at any address; {@link DmaMemory#free} only ends the mapping.
     *
     * @throws IllegalArgumentException if this bus reaches only memory that it has allocated
     * @throws io.penstock.TransientStorageException if the IOMMU maps no more
     */
    DmaMemory map(HostMemory memory);

    /**
     * Maps a part of a dma-buf, such as memory of a GPU, for DMA. The descriptor stays the caller's.
     *
     * @param descriptor of the dma-buf
     * @param offset in it
     * @throws io.penstock.PermanentStorageException if the kernel does not map this dma-buf, or none; always, unless
     *     overridden
     * @throws io.penstock.TransientStorageException if the IOMMU maps no more
     */
    default DmaMapping mapDmaBuf(int descriptor, long offset, long bytes) {
        throw new PermanentStorageException(
                "mapping of a dma-buf for DMA by " + name() + " failed: only iommufd maps one, and it is not used",
                Failure.NOT_STARTED,
                null);
    }

    /**
     * Lets an interrupt vector signal an eventfd.
     *
     * @param eventfd a descriptor, or -1 for none
     * @return whether the device has this vector; always false for a bus without interrupts
     */
    default boolean connect(int vector, int eventfd) {
        return false;
    }

    /**
     * Ends all DMA of the device, at once and for good: memory may be freed though commands are in flight. For a device
     * that cannot be reset any more.
     */
    void stopDma();

    @Override
    void close();
}
