// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.util.AbstractList;
import java.util.HashSet;
import java.util.List;
import java.util.RandomAccess;
import java.util.Set;

/** Arrays that can be those of a file: their names differ, and a long can hold the bytes of all. Immutable. */
final class DistinctArrays extends AbstractList<Array> implements RandomAccess {

    private final List<Array> arrays;

    private DistinctArrays(List<Array> arrays) {
        this.arrays = arrays;
    }

    /**
     * Copies a list.
     *
     * @throws IllegalArgumentException if two arrays have the same name, or all have more bytes than a long can hold
     */
    static DistinctArrays of(List<Array> list) {
        if (list instanceof DistinctArrays distinct) {
            return distinct;
        }
        List<Array> arrays = List.copyOf(list);
        long bytes = 0;
        Set<String> names = new HashSet<>(arrays.size() * 2);
        for (Array array : arrays) {
            if (!names.add(array.name())) {
                throw new IllegalArgumentException("two arrays have the name " + array.name());
            }
            bytes += array.bytes();
            if (bytes < 0) {
                throw new IllegalArgumentException("its arrays have more bytes than a file can hold");
            }
        }
        return new DistinctArrays(arrays);
    }

    /** Takes a list that has been checked, and that no one else changes. */
    static DistinctArrays known(List<Array> checked) {
        return new DistinctArrays(checked);
    }

    @Override
    public Array get(int index) {
        return arrays.get(index);
    }

    @Override
    public int size() {
        return arrays.size();
    }
}
