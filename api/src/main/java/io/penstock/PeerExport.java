// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.net.URI;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Device memory exported to peers: as a dma-buf to the drivers of other devices (a network adapter, a disk controller,
 * a camera, another GPU), which reach it without the processor and its memory; by a URI to other processes of this
 * host.
 *
 * <p><b>Ownership:</b> the caller that exported it closes it. Until it is {@linkplain #released() released}, memory
 * that the backend allocated is not freed: {@link DeviceBuffer#close()} takes effect later. {@link Backend#close()}
 * closes exports whose {@link #descriptor()} was never read, waits for all, and then reports what is still exported.
 * Wrapped memory stays owned by the application: closing its buffer takes effect later too, but the application itself
 * must not free the memory before the export is released.
 */
public interface PeerExport extends AutoCloseable {

    /**
     * Returns the file descriptor of the dma-buf, which {@link #close()} closes. Close the export when the other driver
     * has released what it created from the dma-buf: it cannot be told to.
     *
     * @throws UnsupportedOperationException if this memory has no dma-buf, or no other device can reach one of this
     *     size; the message states why, with the {@link #limits}
     */
    int descriptor();

    /**
     * Returns the offset in the dma-buf at which the buffer starts.
     *
     * @throws UnsupportedOperationException if this memory has no dma-buf
     */
    long offset();

    /**
     * Returns the length of the dma-buf in bytes; it may reach beyond the buffer at both ends, up to
     * {@link #alignment()}.
     *
     * @throws UnsupportedOperationException if this memory has no dma-buf
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

    /**
     * Returns what may keep other devices of this host from the dma-buf, or slow them down: a sentence for each limit,
     * with the reason and a remedy. They are limits of the memory itself (BAR), and limits between it and each importer
     * (IOMMU, root complex). A limit is no refusal: whether a device reaches the memory is known once its driver has
     * mapped the dma-buf. Empty if the backend knows of none.
     *
     * <p><b>Threading:</b> the kernel's description of the machine is read at each call; what cannot be read is left
     * out.
     *
     * @param importers the PCI addresses of other devices, such as {@code 0000:1b:00.0}; without any, the IOMMU is that
     *     of all devices
     */
    default List<String> limits(String... importers) {
        return List.of();
    }

    /**
     * Returns the URI by which other processes of this host, with a backend on the same device or on one that reaches it,
     * open the buffer: {@link Backend#openBuffer}. The first call starts to listen for them. A process that has the URI
     * and runs as the same user can read and write the memory, and other buffers of the same allocation of the driver.
     *
     * @throws UnsupportedOperationException if other processes cannot open this memory; the message states why
     * @throws IllegalStateException if the export is closed
     */
    default URI uri() {
        throw new UnsupportedOperationException("this memory cannot be opened by other processes");
    }

    /**
     * Completes when no peer has the memory any more: the export is closed, and the processes that had opened the URI
     * have closed their buffers or ended. Never fails; on any thread.
     */
    Mono<Void> released();

    /**
     * Ends the export; a second call does nothing. Does not wait. The dma-buf is closed, the URI opens nothing any
     * more, and {@link DeviceBuffer#revoked()} of the processes that have opened it completes.
     */
    @Override
    void close();
}
