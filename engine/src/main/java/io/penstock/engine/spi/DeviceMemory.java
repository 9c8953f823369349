// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.PeerExport;

/**
 * Memory that one native request can reach; the engine counts who uses it and calls {@link #free} once.
 *
 * <p>Thread-safe.
 */
public interface DeviceMemory {

    /** Returns its length in bytes. */
    long bytes();

    /**
     * Returns the device's own handle or address of its first byte. Memories of one backend with equal handles count as the
     * same memory where a cancelled transfer still works on it: a later transfer that overlaps waits for its end.
     */
    long nativeHandle();

    /** Returns the address by which the processor reaches its first byte, or 0 if it cannot. */
    long hostAddress();

    /**
     * Returns how many bytes behind its last belong to it all the same: requests of its device may overwrite these, so
     * that the last block of a file can be read as a whole.
     */
    default long slack() {
        return 0;
    }

    /**
     * Makes a dma-buf of it, for other devices' drivers; the engine keeps the memory until that is closed.
     *
     * @throws UnsupportedOperationException if this memory cannot be exported; the message says why
     */
    default PeerExport exportPeer() {
        throw new UnsupportedOperationException("this memory is not one that other devices reach");
    }

    /** Gives it back. Called once, when no native request uses it any more; any thread. */
    void free();
}
