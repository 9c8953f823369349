// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import reactor.core.publisher.Mono;

/**
 * A piece of device memory lent to the function of {@link Backend#stream} or {@link Backend#write}.
 *
 * <p><b>Ownership:</b> the lease begins when the function is called, and ends when the publisher that the function
 * returned has terminated or was cancelled, every fence of {@link #releaseAfter} is passed and every lease of
 * {@link #retain} is closed. After that every method but the plain numbers throws {@link ClosedException}; tests fill
 * the memory with poison.
 */
public interface Chunk {

    /** Returns its place in the stream, from 0. */
    long index();

    /** Returns the offset in the file of its first byte. */
    long fileOffset();

    /** Returns its length in bytes: what was read, or, in a write, what there is room for. */
    long length();

    /** Returns the device memory, {@link #length()} bytes of it. */
    BufferRegion region();

    /**
     * Returns the bytes as the processor sees them.
     *
     * @throws IllegalStateException if the processor cannot address the device's memory
     */
    HostView view();

    /**
     * Ends the lease no earlier than the device has passed {@code fence}, so that device work on the chunk may still
     * run when the function's publisher completes. The fence is closed with the lease.
     *
     * <p><b>Result:</b> completes at once, when the fence is noted down; the stream reads on meanwhile.
     */
    Mono<Void> releaseAfter(DeviceFence fence);

    /**
     * Returns a lease of its own on the same bytes, for code that uses them later (Netty's write queue, another
     * thread). The stream has one chunk less until it is closed.
     */
    HostLease retain();
}
