// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

/**
 * Limits of what an I/O queue has in flight.
 *
 * @param bytes in flight
 * @param quantum the bytes that one transfer may start before the next transfer's turn
 * @param bounceBuffers the bounce buffers of one path
 */
public record QueueLimits(long bytes, long quantum, int bounceBuffers) {

    private static final long QUANTUM_BYTES = 1 << 20;

    /** A small number: edges are small, and a misaligned transfer streams through them. */
    private static final int BUFFERS = 16;

    static QueueLimits ofBytes(long bytes) {
        return new QueueLimits(bytes, QUANTUM_BYTES, BUFFERS);
    }
}
