// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.PeerExport;
import reactor.core.publisher.Mono;

/**
 * Memory that one native request can reach; the engine counts its users and calls {@link #free} once.
 *
 * <p>Thread-safe.
 */
public interface DeviceMemory {

    /** Returns its length in bytes. */
    long bytes();

    /**
     * Returns the device's own handle or address of its first byte. Memories of one backend with equal handles count as
     * the same memory while a cancelled transfer still uses it: a later transfer that overlaps waits for its end.
     */
    long nativeHandle();

    /** Returns the processor's address of its first byte, or 0 if the processor cannot reach it. */
    long hostAddress();

    /**
     * Returns how many bytes past its end belong to it: requests of its device may overwrite them, so that the last
     * block of a file can be read as a whole.
     */
    default long slack() {
        return 0;
    }

    /**
     * Exports it to the drivers of other devices and to other processes; the engine keeps the memory until the export
     * is released.
     *
     * @throws UnsupportedOperationException if this memory cannot be exported; the message states why
     */
    default PeerExport exportPeer() {
        throw new UnsupportedOperationException("this memory cannot be accessed by other devices");
    }

    /**
     * Completes when the process that exported this memory has ended the export; any thread. The engine itself revokes
     * the memory of a device that is {@linkplain NativeFailure.Kind#LOST lost}.
     */
    default Mono<Void> revoked() {
        return Mono.never();
    }

    /** Frees it. Called once, when no native request uses it any more; any thread. */
    void free();
}
