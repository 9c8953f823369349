// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * Device memory exported as a dma-buf, which other devices (a network adapter, a disk controller, a camera, another
 * GPU) reach without the processor and its memory.
 *
 * <p><b>Ownership:</b> the caller that exported it closes it, when the other driver has released what it created from
 * the dma-buf. Until then memory that the backend allocated is not freed: {@link DeviceBuffer#close()} takes effect
 * later, and {@link Backend#close()} waits, and then reports what is still exported. Wrapped memory stays owned by the
 * application: closing its buffer takes effect later too, but the application itself must not free the memory before
 * the export is closed.
 */
public interface PeerExport extends AutoCloseable {

    /** Returns the file descriptor of the dma-buf, which {@link #close()} closes. */
    int descriptor();

    /** Returns the offset in the dma-buf at which the buffer starts. */
    long offset();

    /**
     * Returns the length of the dma-buf in bytes; it may reach beyond the buffer at both ends, up to
     * {@link #alignment()}.
     */
    long bytes();

    /**
     * Returns the page size in bytes that is assumed of the other device's scatter table: no driver here reports it. An
     * entry may cover several pages; only the first and the last may cover less than one. What the importer is given is
     * what counts.
     */
    long pageBytes();

    /** Returns the alignment, in bytes, of the start and the length of an exported range. */
    long alignment();

    /** Ends the export; a second call does nothing. */
    @Override
    void close();
}
