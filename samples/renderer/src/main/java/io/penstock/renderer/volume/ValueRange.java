// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.util.stream.IntStream;

/** Finds the smallest and the largest finite voxel, which the type does not bound for floats. */
public final class ValueRange implements SlabVisitor {

    private final NiftiHeader header;
    private float lowest = Float.POSITIVE_INFINITY;
    private float highest = Float.NEGATIVE_INFINITY;

    public ValueRange(NiftiHeader header) {
        this.header = header;
    }

    @Override
    public long heldBytes(int slices) {
        return 0;
    }

    @Override
    public void visit(Slab slab) {
        IntStream.range(0, slab.to() - slab.from()).parallel().forEach(slice -> scan(slab, slice));
    }

    /** Returns the scale on which these values become codes. */
    CodeScale scale() {
        return lowest <= highest ? CodeScale.between(lowest, highest) : CodeScale.between(0, 1);
    }

    private void scan(Slab slab, int slice) {
        RowDecoder decoder = new RowDecoder(header);
        float low = Float.POSITIVE_INFINITY;
        float high = Float.NEGATIVE_INFINITY;
        for (int y = 0; y < header.rows(); y++) {
            for (float value : decoder.row(slab, slice * header.rows() + y)) {
                if (Math.abs(value) <= Float.MAX_VALUE) { // neither NaN nor infinite
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
        }
        widen(low, high);
    }

    private synchronized void widen(float low, float high) {
        lowest = Math.min(lowest, low);
        highest = Math.max(highest, high);
    }
}
