// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import reactor.core.publisher.Mono;

/**
 * A piece of device memory leased to the function of {@link Backend#stream} or {@link Backend#write}.
 *
 * <p><b>Ownership:</b> the lease begins when the function is called, and ends when the publisher that the function
 * returned has terminated or was cancelled, every fence of {@link #releaseAfter} is signalled and every lease of
 * {@link #retain} is closed. After that every method except {@link #index}, {@link #fileOffset} and {@link #length}
 * throws {@link ClosedException}; with {@link CommonOptions#POISON} the memory is overwritten.
 */
public interface Chunk {

    /** Returns its index in the stream, from 0. */
    long index();

    /** Returns the offset in the file of its first byte. */
    long fileOffset();

    /** Returns its length in bytes: the bytes read, or, in a write, the capacity. */
    long length();

    /** Returns its device memory, {@link #length()} bytes long. */
    BufferRegion region();

    /**
     * Returns a view of the bytes for the processor.
     *
     * @throws IllegalStateException if the processor cannot address the device's memory
     */
    HostView view();

    /**
     * Keeps the lease at least until {@code fence} is signalled, so that device work on the chunk may still run when
     * the function's publisher completes. The fence is closed with the lease.
     *
     * <p><b>Result:</b> completes at once, when the fence is registered; the stream continues to read meanwhile.
     */
    Mono<Void> releaseAfter(DeviceFence fence);

    /**
     * Returns an independent lease on the same bytes, for code that uses them later (a Netty write queue, another
     * thread). Until it is closed, the stream has one chunk less.
     *
     * <p><b>Ownership:</b> the caller closes it. One that is emitted belongs to the operators behind the stream: those
     * that drop elements discard them, and {@code doOnDiscard(HostLease.class, HostLease::close)} closes what is
     * discarded. Not so {@code publishOn}: if it is cancelled before its thread runs, what it has queued is lost.
     * Change threads within the function, or by {@code flatMap}.
     */
    HostLease retain();
}
