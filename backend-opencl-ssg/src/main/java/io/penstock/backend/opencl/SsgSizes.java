// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.CommonOptions;
import io.penstock.Options;

/**
 * What the extension's path takes and how it cuts.
 *
 * @param pieceBytes the most bytes of one command, and the bytes of a ring slot; whole pages
 * @param ringBytes of the ring
 * @param persistentBytes the most persistent memory that may be in use in this process
 * @param queues how many command queues in order, or 0 for one out of order where the device has that
 * @param depth the most commands in flight
 * @param bytes the most bytes in flight
 */
record SsgSizes(long pieceBytes, long ringBytes, long persistentBytes, int queues, int depth, long bytes) {

    static final long PAGE_BYTES = 4096;

    static SsgSizes of(Options options) {
        return new SsgSizes(
                options.get(OpenClOptions.SSG_PIECE_BYTES) & -PAGE_BYTES,
                options.get(OpenClOptions.SSG_RING_BYTES),
                options.get(OpenClOptions.PERSISTENT_BYTES),
                options.get(OpenClOptions.SSG_QUEUES),
                options.get(CommonOptions.LANE_DEPTH),
                options.get(CommonOptions.LANE_BYTES));
    }
}
