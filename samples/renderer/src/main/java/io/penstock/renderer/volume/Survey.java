// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.util.stream.IntStream;

/**
 * Counts the voxels of a volume and draws a coarse map of it: one pass for all frames of a turntable. The result is a
 * function of the voxels alone, since it adds integers.
 */
public final class Survey implements SlabVisitor {

    private static final int TASKS = 8;

    private final NiftiHeader header;
    private final CodeScale scale;
    private final Histogram histogram;
    private final CoarseMap map;

    /** Prepares the survey of integer voxels. */
    public Survey(NiftiHeader header) {
        this(header, CodeScale.of(header));
    }

    /** Prepares the survey of a volume whose range was found first. */
    public Survey(NiftiHeader header, ValueRange range) {
        this(header, range.scale());
    }

    private Survey(NiftiHeader header, CodeScale scale) {
        this.header = header;
        this.scale = scale;
        this.histogram = new Histogram(scale.codes());
        this.map = new CoarseMap(header);
    }

    /** Returns true if a {@link ValueRange} must visit such a volume first. */
    public static boolean needsRange(NiftiHeader header) {
        return !header.type().bounded();
    }

    @Override
    public long heldBytes(int slices) {
        return 0;
    }

    @Override
    public void visit(Slab slab) {
        // Each task has its own rows of cells: no two add to one cell.
        IntStream.range(0, TASKS).parallel().forEach(task -> count(slab, task));
    }

    /** Returns the scene, once every slab was visited. */
    public Scene finish() {
        Histogram.Split split = histogram.split();
        map.close(histogram.lowest());
        return new Scene(new Terrain(header, scale, histogram.lowest(), split, map));
    }

    private void count(Slab slab, int task) {
        RowDecoder decoder = new RowDecoder(header);
        char[] codes = new char[header.columns()];
        int[] counts = new int[scale.codes()];
        int from = map.firstRow(task, TASKS);
        int to = map.firstRow(task + 1, TASKS);
        for (int slice = slab.from(); slice < slab.to(); slice++) {
            for (int y = from; y < to; y++) {
                scale.encode(decoder.row(slab, (slice - slab.from()) * header.rows() + y), codes, 0);
                for (char code : codes) {
                    counts[code]++;
                }
                map.add(codes, y, slice);
            }
        }
        histogram.add(counts);
    }
}
