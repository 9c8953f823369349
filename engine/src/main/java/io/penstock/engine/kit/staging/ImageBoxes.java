// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.staging;

import io.penstock.ImageRegion;

/**
 * Splits the bytes of an image region, as laid out in a file, into boxes that one device call fills: whole slices,
 * whole rows, or a part of one row. Padding between rows and between slices is in no box, nor is an incomplete texel.
 *
 * <p><b>Threading:</b> one thread; {@link #next} allocates nothing.
 */
public final class ImageBoxes {

    private final ImageRegion.Layout layout;
    private final ImageRegion.Texels extent;
    private final boolean severalRows;
    private final boolean severalSlices;

    private long position; // of the byte after the box, in the region
    private long left;

    private long offset;
    private int column;
    private int row;
    private int slice;
    private int columns;
    private int rows;
    private int slices;

    /**
     * Prepares for a region.
     *
     * @param severalRows whether one call fills several rows of this pitch
     * @param severalSlices whether one call fills several slices of this pitch
     */
    public ImageBoxes(ImageRegion region, boolean severalRows, boolean severalSlices) {
        this.layout = region.layout();
        this.extent = region.extent();
        this.severalRows = severalRows;
        this.severalSlices = severalRows && severalSlices;
    }

    /**
     * Starts a range of bytes; {@link #next} moves to its first box.
     *
     * @param offset of the first byte in the region; a texel must begin there
     */
    public void cut(long offset, long bytes) {
        this.position = offset;
        this.left = bytes;
    }

    /** Moves to the next box, the largest that begins there; returns false if there is none. */
    public boolean next() {
        columns = 0;
        while (left > 0 && columns == 0) {
            offset = position;
            long taken = Math.min(left, box());
            position += taken;
            left -= taken;
        }
        return columns > 0;
    }

    /** Sets the box that begins at {@link #offset}, if any; returns the bytes to the next, padding included. */
    private long box() {
        slice = (int) (offset / layout.slicePitch());
        long inSlice = offset % layout.slicePitch();
        row = (int) Math.min(inSlice / layout.rowPitch(), extent.y());
        if (row == extent.y()) {
            return layout.slicePitch() - inSlice;
        }
        long inRow = inSlice - row * layout.rowPitch();
        column = (int) Math.min(inRow / layout.texelBytes(), extent.x());
        if (inSlice == 0 && severalSlices && left >= layout.slicePitch()) {
            long fits = left / layout.slicePitch();
            size(extent.x(), extent.y(), (int) fits);
            return fits * layout.slicePitch();
        }
        long wholeRows = inRow == 0 ? Math.min(severalRows ? extent.y() - row : 1, left / layout.rowPitch()) : 0;
        if (wholeRows > 0) {
            size(extent.x(), (int) wholeRows, 1);
            return wholeRows * layout.rowPitch();
        }
        size((int) Math.min(extent.x() - column, left / layout.texelBytes()), 1, 1);
        return layout.rowPitch() - inRow;
    }

    private void size(int columns, int rows, int slices) {
        this.columns = columns;
        this.rows = rows;
        this.slices = slices;
    }

    /** Returns the offset of the box's first byte in the region, as laid out in a file. */
    public long offset() {
        return offset;
    }

    /** Returns the box's first column in the region. */
    public int column() {
        return column;
    }

    /** Returns the box's first row in the region. */
    public int row() {
        return row;
    }

    /** Returns the box's first slice in the region. */
    public int slice() {
        return slice;
    }

    /** Returns how many texels a row of the box has. */
    public int columns() {
        return columns;
    }

    /** Returns how many rows a slice of the box has. */
    public int rows() {
        return rows;
    }

    /** Returns how many slices the box has. */
    public int slices() {
        return slices;
    }
}
