// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Keeps the largest voxel along each line through the volume, in one direction of the patient.
 *
 * <p>Maxima are exact and do not depend on their order. NaN is never the largest.
 */
public final class MaximumProjection implements Composition {

    private final NiftiHeader header;
    private final ProjectionPlane plane;
    private final float[] maxima;

    /**
     * Prepares a projection.
     *
     * @param world 0 to look from the left, 1 from the front, 2 from above
     * @throws BadVolumeException if the projection would be absurdly large
     */
    public MaximumProjection(NiftiHeader header, int world, Display display) throws BadVolumeException {
        this.header = header;
        this.plane = ProjectionPlane.of(header, world, display);
        this.maxima = new float[plane.width() * plane.height()];
        Arrays.fill(maxima, Float.NEGATIVE_INFINITY);
    }

    @Override
    public long heldBytes(int slices) {
        return 0;
    }

    @Override
    public void visit(Slab slab) {
        int slices = slab.to() - slab.from();
        if (plane.along() == 2) {
            // Lines run through the slices: threads divide the rows instead, so that no two write one maximum.
            IntStream.range(0, tasks()).parallel().forEach(task -> rows(slab, task, slices));
        } else {
            IntStream.range(0, slices).parallel().forEach(slice -> slice(slab, slice));
        }
    }

    @Override
    public Picture finish() {
        return plane.picture(maxima);
    }

    private int tasks() {
        return Math.min(header.rows(), 8);
    }

    private void rows(Slab slab, int task, int slices) {
        RowDecoder decoder = new RowDecoder(header);
        int from = (int) ((long) header.rows() * task / tasks());
        int to = (int) ((long) header.rows() * (task + 1) / tasks());
        for (int slice = 0; slice < slices; slice++) {
            for (int y = from; y < to; y++) {
                max(decoder.row(slab, slice * header.rows() + y), maxima, y * plane.width());
            }
        }
    }

    private void slice(Slab slab, int slice) {
        RowDecoder decoder = new RowDecoder(header);
        int line = (slab.from() + slice) * plane.width();
        for (int y = 0; y < header.rows(); y++) {
            float[] row = decoder.row(slab, slice * header.rows() + y);
            if (plane.along() == 1) {
                max(row, maxima, line);
            } else {
                maxima[line + y] = max(row);
            }
        }
    }

    private static void max(float[] row, float[] into, int at) {
        for (int x = 0; x < row.length; x++) {
            if (row[x] > into[at + x]) {
                into[at + x] = row[x];
            }
        }
    }

    private static float max(float[] row) {
        // Four at a time: a single running maximum would wait for itself.
        float a = Float.NEGATIVE_INFINITY;
        float b = a;
        float c = a;
        float d = a;
        int x = 0;
        for (; x + 3 < row.length; x += 4) {
            a = row[x] > a ? row[x] : a;
            b = row[x + 1] > b ? row[x + 1] : b;
            c = row[x + 2] > c ? row[x + 2] : c;
            d = row[x + 3] > d ? row[x + 3] : d;
        }
        for (; x < row.length; x++) {
            a = row[x] > a ? row[x] : a;
        }
        return Math.max(Math.max(a, b), Math.max(c, d));
    }
}
