// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * Mean and maximum of cubes of voxels: a map of at most 98 cubes a side, whatever the volume's size, which gives rays
 * the space that they can skip and the light the surroundings of a point.
 *
 * <p>Positions are padded ones: {@link #PAD} more than the voxel's index, so that they are never negative.
 */
final class CoarseMap {

    /** Voxels of background assumed around the volume on every side. */
    static final int PAD = 2;

    private static final int MAX_CELLS = 96;

    private final NiftiHeader header;
    private final int shift;
    private final int columns;
    private final int rows;
    private final int layers;
    private long[] sums;
    private final char[] highest;
    private float[] means = {};
    private float[] lines = {};

    CoarseMap(NiftiHeader header) {
        this.header = header;
        int longest = Math.max(header.columns(), Math.max(header.rows(), header.slices())) + 2 * PAD;
        int bits = 0;
        while (longest >> bits >= MAX_CELLS) {
            bits++;
        }
        shift = bits;
        columns = cells(header.columns());
        rows = cells(header.rows());
        layers = cells(header.slices());
        sums = new long[columns * rows * layers];
        highest = new char[sums.length];
    }

    /** Returns the voxels along a side of a cube, as a power of two. */
    int shift() {
        return shift;
    }

    int columns() {
        return columns;
    }

    int rows() {
        return rows;
    }

    int layers() {
        return layers;
    }

    int index(int column, int row, int layer) {
        return (layer * rows + row) * columns + column;
    }

    /** Returns the first row of voxels of part {@code task} of {@code tasks}; parts share no cube. */
    int firstRow(int task, int tasks) {
        int cell = rows * task / tasks;
        return Math.max(0, Math.min((cell << shift) - PAD, header.rows()));
    }

    void add(char[] codes, int row, int slice) {
        int start = index(0, (row + PAD) >> shift, (slice + PAD) >> shift);
        for (int x = 0; x < codes.length; x++) {
            int cell = start + ((x + PAD) >> shift);
            sums[cell] += codes[x];
            if (codes[x] > highest[cell]) {
                highest[cell] = codes[x];
            }
        }
    }

    /** Finishes the sums: computes means, with {@code outside} where a cube extends beyond the volume. */
    void close(int outside) {
        means = new float[sums.length];
        long side = 1L << shift;
        for (int layer = 0; layer < layers; layer++) {
            for (int row = 0; row < rows; row++) {
                for (int column = 0; column < columns; column++) {
                    long inside = inside(column, header.columns())
                            * inside(row, header.rows())
                            * inside(layer, header.slices());
                    int cell = index(column, row, layer);
                    long all = sums[cell] + (side * side * side - inside) * outside;
                    means[cell] = (float) ((double) all / (side * side * side));
                    highest[cell] = (char) Math.max(highest[cell], outside);
                }
            }
        }
        sums = new long[0];
        lines = lines();
        dilate(1, columns);
        dilate(columns, rows);
        dilate(columns * rows, layers);
    }

    /**
     * Returns the largest code that a sample in this cube may touch; it interpolates into the next cube's first voxels.
     */
    int highest(int cell) {
        return highest[cell];
    }

    /** Returns the largest code along each line of cubes, in all three directions. */
    float[] highestLines() {
        return lines.clone();
    }

    private float[] lines() {
        float[] along = new float[rows * layers + columns * layers + columns * rows];
        for (int layer = 0; layer < layers; layer++) {
            for (int row = 0; row < rows; row++) {
                for (int column = 0; column < columns; column++) {
                    char code = highest[index(column, row, layer)];
                    raise(along, layer * rows + row, code);
                    raise(along, rows * layers + layer * columns + column, code);
                    raise(along, (rows + columns) * layers + row * columns + column, code);
                }
            }
        }
        return along;
    }

    private static void raise(float[] lines, int line, char code) {
        lines[line] = Math.max(lines[line], code);
    }

    /** Returns the mean code of each cube. */
    float[] means() {
        return means.clone();
    }

    /** Returns the mean code around a padded position, interpolated. */
    float mean(float x, float y, float z) {
        float scale = 1f / (1 << shift);
        float cx = clamp(x * scale - 0.5f + 0.5f * scale, columns);
        float cy = clamp(y * scale - 0.5f + 0.5f * scale, rows);
        float cz = clamp(z * scale - 0.5f + 0.5f * scale, layers);
        int i = (int) cx;
        int j = (int) cy;
        int k = (int) cz;
        int cell = index(i, j, k);
        float low = plane(cell, cx - i, cy - j);
        return low + (plane(cell + columns * rows, cx - i, cy - j) - low) * (cz - k);
    }

    private float plane(int cell, float p, float q) {
        float low = means[cell] + (means[cell + 1] - means[cell]) * p;
        int above = cell + columns;
        float high = means[above] + (means[above + 1] - means[above]) * p;
        return low + (high - low) * q;
    }

    private static float clamp(float cell, int cells) {
        return Math.max(0, Math.min(cell, cells - 1.001f));
    }

    private int cells(int voxels) {
        return ((voxels + 2 * PAD) >> shift) + 2;
    }

    private long inside(int cell, int voxels) {
        int from = Math.max((cell << shift) - PAD, 0);
        int to = Math.min(((cell + 1) << shift) - PAD, voxels);
        return Math.max(to - from, 0);
    }

    private void dilate(int stride, int length) {
        for (int cell = 0; cell + stride < highest.length; cell++) {
            boolean last = cell / stride % length == length - 1;
            if (!last && highest[cell + stride] > highest[cell]) {
                highest[cell] = highest[cell + stride]; // its neighbour ahead is still undilated along this axis
            }
        }
    }
}
