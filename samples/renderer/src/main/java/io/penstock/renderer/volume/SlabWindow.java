// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The few slices that rays can access at a time, as codes, with a border of background: the newest ones, and the three
 * before them that interpolation and gradients reach back to. Slices come in order, upwards or downwards.
 *
 * <p>Positions are padded ones, see {@link CoarseMap#PAD}.
 */
final class SlabWindow implements CodeField {

    private static final int PAD = CoarseMap.PAD;
    /** Slices before the newest that interpolation and gradients reach back to. */
    static final int REACH = 3;

    /** New slices at a time, at most. */
    static final int MOST_NEW = 16;

    private final NiftiHeader header;
    private final CodeScale scale;
    private final char outside;
    private final boolean descending;
    private final int width;
    private final int area;
    private final char[] codes;
    private int first;
    private int slices;

    SlabWindow(Terrain terrain, boolean descending, int thickest) {
        this.header = terrain.header();
        this.scale = terrain.scale();
        this.outside = (char) terrain.outside();
        this.descending = descending;
        this.width = header.columns() + 2 * PAD;
        this.area = width * (header.rows() + 2 * PAD);
        this.codes = new char[Math.toIntExact(heldBytes(header, thickest) / Character.BYTES)];
        Arrays.fill(codes, outside);
    }

    static long heldBytes(NiftiHeader header, int slices) {
        long area = (header.columns() + 2L * PAD) * (header.rows() + 2L * PAD);
        return area * Character.BYTES * (Math.min(slices, MOST_NEW) + REACH);
    }

    /** Returns how many slices may be pushed at a time. */
    int room() {
        return codes.length / area - REACH;
    }

    /** Takes slices {@code from} to {@code to} of the volume. */
    void push(Slab slab, int from, int to) {
        int place = makeRoom(to - from, from + PAD);
        IntStream.range(from, to).parallel().forEach(slice -> decode(slab, slice, place + slice - from));
    }

    /** Takes a slice of background, which lies around the volume. */
    void pushOutside(int slice) {
        int place = makeRoom(1, slice + PAD);
        Arrays.fill(codes, place * area, (place + 1) * area, outside);
    }

    /** Returns the first padded slice whose samples have all their neighbours here. */
    int readyFrom() {
        return first + 1;
    }

    /** Returns the padded slice behind the last whose samples have all their neighbours here. */
    int readyTo() {
        return first + slices - 2;
    }

    /** Its slice and neighbours must be here. */
    @Override
    public float at(float x, float y, float z) {
        int i = (int) x;
        int j = (int) y;
        int k = (int) z;
        int index = (k - first) * area + j * width + i;
        float p = x - i;
        float q = y - j;
        float low = plane(index, p, q);
        return low + (plane(index + area, p, q) - low) * (z - k);
    }

    private float plane(int index, float p, float q) {
        float low = codes[index] + (codes[index + 1] - codes[index]) * p;
        int above = index + width;
        float high = codes[above] + (codes[above + 1] - codes[above]) * p;
        return low + (high - low) * q;
    }

    /** Drops what is no longer needed and returns the index of the first new slice. */
    private int makeRoom(int added, int index) {
        int kept = Math.min(REACH, slices);
        int from = descending ? 0 : slices - kept;
        int to = descending ? added : 0;
        System.arraycopy(codes, from * area, codes, to * area, kept * area);
        first = descending ? index : index - kept;
        slices = kept + added;
        return descending ? 0 : kept;
    }

    private void decode(Slab slab, int slice, int place) {
        RowDecoder decoder = new RowDecoder(header);
        int at = place * area + PAD * width + PAD;
        for (int y = 0; y < header.rows(); y++) {
            scale.encode(decoder.row(slab, (slice - slab.from()) * header.rows() + y), codes, at + y * width);
        }
    }
}
