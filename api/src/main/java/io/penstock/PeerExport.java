// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * Device memory as the drivers of other devices reach it, past the processor and its memory: a dma-buf, for a network
 * adapter, a disk controller, a camera, or another GPU.
 *
 * <p><b>Ownership:</b> the caller that exported it closes it, when the other driver has let go of what it made of the dma-buf.
 * Until then memory that the backend allocated is not freed: {@link DeviceBuffer#close()} takes effect later, and
 * {@link Backend#close()} waits, and then says what is still exported. Memory that the application wrapped is the
 * application's: closing its buffer takes effect later too, but nothing here can keep the application from freeing it, which
 * it must not do before the export is closed.
 */
public interface PeerExport extends AutoCloseable {

    /** Returns the file descriptor of the dma-buf, which {@link #close()} closes. */
    int descriptor();

    /** Returns where in the dma-buf the buffer starts. */
    long offset();

    /** Returns the length of the dma-buf in bytes; it may reach beyond the buffer at both ends, up to {@link #alignment()}. */
    long bytes();

    /**
     * Returns the size in bytes of the pages that the other device's table of addresses is made of, as far as the driver
     * tells: an entry may cover several, and none covers less, but at the ends.
     */
    long pageBytes();

    /** Returns what the start and the length of an exported range are multiples of, in bytes. */
    long alignment();

    /** Ends the export; a second call does nothing. */
    @Override
    void close();
}
