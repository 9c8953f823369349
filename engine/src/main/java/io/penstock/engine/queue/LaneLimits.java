// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

/**
 * How much a lane has under way at a time.
 *
 * @param bytes in flight
 * @param quantum the bytes that one transfer may start before it is another's turn
 * @param slots the bounce slots of one route
 */
public record LaneLimits(long bytes, long quantum, int slots) {

    private static final long QUANTUM_BYTES = 1 << 20;

    /** Few: edges are small, and a misaligned transfer streams through them. */
    private static final int SLOTS = 16;

    static LaneLimits ofBytes(long bytes) {
        return new LaneLimits(bytes, QUANTUM_BYTES, SLOTS);
    }
}
