// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.formats.NiftiFields;
import java.util.List;

/**
 * The orientation of the file's axes in the patient: each runs along one of right (0), anterior (1) and superior (2),
 * or against it. Oblique scans are drawn along their nearest axes.
 *
 * @param column where the first axis of the file points
 * @param row where the second points
 * @param slice where the third points
 */
public record Orientation(Axis column, Axis row, Axis slice) {

    /** The NIfTI-1 default if a header gives none: right, anterior, superior. */
    public static final Orientation CANONICAL =
            new Orientation(new Axis(0, false), new Axis(1, false), new Axis(2, false));

    /**
     * A direction in the patient.
     *
     * @param world 0 for right, 1 for anterior, 2 for superior
     * @param against true if it points left, posterior or inferior instead
     */
    public record Axis(int world, boolean against) {}

    /** Returns where axis 0, 1 or 2 of the file points. */
    public Axis axis(int file) {
        return file == 0 ? column : file == 1 ? row : slice;
    }

    /** Returns which axis of the file runs along {@code world}. */
    public int fileAxis(int world) {
        return column.world() == world ? 0 : row.world() == world ? 1 : 2;
    }

    /** Returns the orientation of {@link NiftiFields#axes}. */
    static Orientation of(List<Double> axes) {
        if (axes.isEmpty()) {
            return CANONICAL;
        }
        double[][] matrix = new double[3][3];
        for (int i = 0; i < 9; i++) {
            matrix[i / 3][i % 3] = axes.get(i);
        }
        return nearest(matrix);
    }

    /** Picks the permutation whose signed entries are largest; a degenerate matrix is canonical. */
    private static Orientation nearest(double[][] matrix) {
        int[][] permutations = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        double[] lengths = new double[3];
        for (int file = 0; file < 3; file++) {
            lengths[file] = Math.sqrt(sq(matrix[0][file]) + sq(matrix[1][file]) + sq(matrix[2][file]));
            if (!(lengths[file] > 0 && lengths[file] < Double.POSITIVE_INFINITY)) {
                return CANONICAL;
            }
        }
        int[] best = permutations[0];
        double bestSum = 0;
        for (int[] p : permutations) {
            double sum = 0;
            for (int file = 0; file < 3; file++) {
                sum += Math.abs(matrix[p[file]][file]) / lengths[file];
            }
            if (sum > bestSum + 1e-9) {
                best = p;
                bestSum = sum;
            }
        }
        return new Orientation(
                new Axis(best[0], matrix[best[0]][0] < 0),
                new Axis(best[1], matrix[best[1]][1] < 0),
                new Axis(best[2], matrix[best[2]][2] < 0));
    }

    private static double sq(double value) {
        return value * value;
    }
}
