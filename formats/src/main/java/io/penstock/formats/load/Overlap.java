// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.load;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * What a chunk and a box share, as runs of bytes that lie side by side in both.
 *
 * @param steps the dimensions, except dimensions within a run; slowest varying in the box first
 * @param length the bytes of a run
 * @param chunkStart where the first run starts in the chunk
 * @param boxStart where it starts in the box
 */
record Overlap(List<Step> steps, long length, long chunkStart, long boxStart) {

    private static final int TILE = 32; // runs of a tile, each in a line of the cache of its own
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /** A dimension: its elements, and their distances in the chunk and in the box, in bytes. */
    record Step(long count, long chunkStride, long boxStride) {}

    /** Bytes that lie side by side in a chunk and in the box. */
    interface Run {
        void at(long chunkOffset, long boxOffset, long length);
    }

    /** Returns what is shared by these steps, including the dimensions within a run. */
    static Overlap of(List<Step> all, long elementBytes, long chunkStart, long boxStart) {
        int outer = all.size();
        long length = elementBytes;
        while (outer > 0 && all.get(outer - 1).chunkStride == length && all.get(outer - 1).boxStride == length) {
            outer--;
            length *= all.get(outer).count;
        }
        return new Overlap(all.subList(0, outer), length, chunkStart, boxStart);
    }

    /** Calls {@code run} for each run, in the order of the box. */
    void runs(Run run) {
        walk(steps, run, chunkStart, boxStart);
    }

    private void walk(List<Step> outer, Run run, long chunkOffset, long boxOffset) {
        if (outer.isEmpty()) {
            run.at(chunkOffset, boxOffset, length);
            return;
        }
        Step step = outer.get(0);
        List<Step> inner = outer.subList(1, outer.size());
        for (long i = 0; i < step.count; i++) {
            walk(inner, run, chunkOffset + i * step.chunkStride, boxOffset + i * step.boxStride);
        }
    }

    /**
     * Copies all runs. Where single elements are runs, because the dimensions have another order in the chunk, the
     * fastest varying dimension of the chunk and the fastest varying dimension of the box are copied tile by tile.
     *
     * @param box the bytes of the box from {@code boxOffset} on
     */
    void copy(ByteBuffer chunk, ByteBuffer box, long boxOffset) {
        List<Step> outer = new ArrayList<>(steps);
        Step columns = outer.isEmpty() ? new Step(1, 0, 0) : outer.remove(outer.size() - 1);
        Step rows = new Step(1, 0, 0);
        for (Step step : outer) {
            rows = rows.count == 1 || step.chunkStride <= rows.chunkStride ? step : rows;
        }
        outer.remove(rows);
        Plane plane = new Plane(
                rows,
                columns,
                (int) length,
                chunk.duplicate().order(ORDER),
                box.duplicate().order(ORDER));
        walk(outer, (from, to, bytes) -> plane.copy((int) from, (int) (to - boxOffset)), chunkStart, boxStart);
    }

    /** Two dimensions of runs. */
    private record Plane(Step rows, Step columns, int length, ByteBuffer chunk, ByteBuffer box) {

        void copy(int from, int to) {
            for (int column = 0; column < columns.count; column += TILE) {
                int count = (int) Math.min(TILE, columns.count - column);
                int chunkOffset = from + (int) (column * columns.chunkStride);
                int boxOffset = to + (int) (column * columns.boxStride);
                for (int row = 0; row < rows.count; row++) {
                    copyRow(
                            chunkOffset + (int) (row * rows.chunkStride),
                            boxOffset + (int) (row * rows.boxStride),
                            count);
                }
            }
        }

        private void copyRow(int from, int to, int count) {
            int next = (int) columns.chunkStride;
            int step = (int) columns.boxStride;
            switch (length) {
                case Byte.BYTES -> copyBytes(from, next, to, step, count);
                case Short.BYTES -> copyShorts(from, next, to, step, count);
                case Integer.BYTES -> copyInts(from, next, to, step, count);
                case Long.BYTES -> copyLongs(from, next, to, step, count);
                default -> copyRuns(from, next, to, step, count);
            }
        }

        // A method for each size: all in one are too much for the compiler to inline, and take three times as long.

        private void copyBytes(int from, int next, int to, int step, int count) {
            for (int i = 0; i < count; i++) {
                box.put(to + i * step, chunk.get(from + i * next));
            }
        }

        private void copyShorts(int from, int next, int to, int step, int count) {
            for (int i = 0; i < count; i++) {
                box.putShort(to + i * step, chunk.getShort(from + i * next));
            }
        }

        private void copyInts(int from, int next, int to, int step, int count) {
            for (int i = 0; i < count; i++) {
                box.putInt(to + i * step, chunk.getInt(from + i * next));
            }
        }

        private void copyLongs(int from, int next, int to, int step, int count) {
            for (int i = 0; i < count; i++) {
                box.putLong(to + i * step, chunk.getLong(from + i * next));
            }
        }

        private void copyRuns(int from, int next, int to, int step, int count) {
            for (int i = 0; i < count; i++) {
                box.put(to + i * step, chunk, from + i * next, length);
            }
        }
    }
}
