// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

/** How long one entry of a batch is. */
final class BatchLimits {

    /** A slab, and a piece of the bounce cache, of the usual size: batches are for many small operations. */
    private static final long USUAL_BYTES = 1L << 20;

    private BatchLimits() {}

    static long pieceBytes(CuFileSizes sizes) {
        return Math.min(USUAL_BYTES, sizes.pieceBytes());
    }
}
