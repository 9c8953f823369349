// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import reactor.core.publisher.Mono;

/**
 * A point in a device's own order: passed when everything before it is done. Signalled on failure too;
 * {@link #outcome} is the truth.
 *
 * <p><b>Ownership:</b> the caller closes it; closing early is safe, the native object goes when the device has
 * passed it.
 */
public interface DeviceFence extends AutoCloseable {

    /** Returns whether the device has passed it. Never blocks. */
    boolean isSignalled();

    /**
     * Completes when the device has passed it, in success and in failure alike.
     *
     * <p><b>Threading:</b> as every signal of the backend; {@code subscribe} never blocks.
     */
    Mono<Void> signalled();

    /**
     * Gives what the transfer behind it came to.
     *
     * <p><b>Result:</b> the completion; empty for an imported fence, which has no transfer.
     *
     * <p><b>Errors:</b> those of the transfer.
     *
     * <p><b>Cancellation:</b> drops the result; the transfer goes on, since the device's order holds it.
     */
    Mono<Completion> outcome();

    /**
     * Returns the vendor's event, sync object or query; 0 for a fence that only the host can wait on. Made for device
     * work that waits: the device may pass it a moment after {@link #signalled} has completed.
     */
    long nativeHandle();

    @Override
    void close();
}
