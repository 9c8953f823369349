// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import reactor.core.publisher.Mono;

/**
 * A point in a device's own order, signalled when everything before it is done. Signalled on failure too;
 * {@link #outcome} returns the result.
 *
 * <p><b>Ownership:</b> the caller closes it; closing early is safe: the native object is freed once it is signalled.
 */
public interface DeviceFence extends AutoCloseable {

    /** Returns whether the fence is signalled. Never blocks. */
    boolean isSignalled();

    /**
     * Completes when the fence is signalled, on success and on failure alike.
     *
     * <p><b>Threading:</b> as for every signal of the backend; {@code subscribe} never blocks.
     */
    Mono<Void> signalled();

    /**
     * Returns the result of the transfer before this fence.
     *
     * <p><b>Result:</b> the completion; empty for an imported fence, which has no transfer.
     *
     * <p><b>Errors:</b> the errors of the transfer.
     *
     * <p><b>Cancellation:</b> drops the result; the transfer continues, since it is part of the device's order.
     */
    Mono<Completion> outcome();

    /**
     * Returns the vendor's event, sync object or query; 0 for a fence that only the host can wait on. Intended for
     * device work that waits: the native object may become signalled a moment after {@link #signalled} has completed.
     */
    long nativeHandle();

    @Override
    void close();
}
