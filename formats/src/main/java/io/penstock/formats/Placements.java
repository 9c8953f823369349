// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;

/**
 * The places of arrays, in their order. That of an array which is loaded as it is, as most are, is made when it is asked
 * for: of ten thousand arrays few may ever be asked for. Not thread-safe until it is complete.
 */
final class Placements extends AbstractList<LoadPlan.Placement> implements RandomAccess {

    private final boolean oneBuffer;
    private final Conversion none;
    private final List<Object> arrays = new ArrayList<>(); // an Array if it is loaded as it is, else its Placement
    private long[] offsets = new long[16];

    /**
     * Starts without arrays.
     *
     * @param oneBuffer whether all are in the buffer of number 0; else each is in that of its own number
     * @param none the conversion of those that are loaded as they are
     */
    Placements(boolean oneBuffer, Conversion none) {
        this.oneBuffer = oneBuffer;
        this.none = none;
    }

    /** Adds an array of which all bytes are loaded as they lie in one place of its file. */
    void addWhole(Array array, long offset) {
        int index = arrays.size();
        if (index >= offsets.length) {
            offsets = Arrays.copyOf(offsets, 2 * index);
        }
        offsets[index] = offset;
        arrays.add(array);
    }

    @Override
    public boolean add(LoadPlan.Placement placement) {
        return arrays.add(placement);
    }

    /** Returns the buffer of the array that is added next. */
    int nextBuffer() {
        return buffer(size());
    }

    private int buffer(int index) {
        return oneBuffer ? 0 : index;
    }

    @Override
    public LoadPlan.Placement get(int index) {
        if (arrays.get(index) instanceof LoadPlan.Placement placement) {
            return placement;
        }
        Array array = (Array) arrays.get(index);
        Extent extent = (Extent) array.data();
        return new LoadPlan.Placement(array, array.shape(), extent, none, buffer(index), offsets[index]);
    }

    @Override
    public int size() {
        return arrays.size();
    }
}
