// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * The rays of one frame: where the samples of each lie, in padded voxel positions. Sample {@code k} of a ray is at
 * {@code start + k * step} whatever slab it falls into, so the cuts are not visible.
 */
final class Rays {

    private static final double STEP = 0.5; // of the smallest spacing: finer than any detail
    private static final int MOST_SAMPLES = 8192;
    private static final double EDGE = 0.001; // keeps rounded positions inside

    final float stepX;
    final float stepY;
    final float stepZ;
    /** Samples across the whole scene, for the cue of depth. */
    final int depth;

    private final NiftiHeader header;
    private final double[] corner = new double[3];
    private final double[] right = new double[3];
    private final double[] down = new double[3];
    private final double[] step = new double[3];
    private final double[][] directions;

    Rays(Scene scene, Camera camera) {
        header = scene.header();
        directions = inFile(header.orientation(), camera.directions());
        NiftiHeader.Spacing spacing = header.spacing();
        double finest = Math.min(spacing.columns(), Math.min(spacing.rows(), spacing.slices()));
        double diameter = 2 * scene.radius();
        double length = Math.max(STEP * finest, diameter / MOST_SAMPLES);
        int side = scene.display().side();
        double pixel = scene.view() / side;
        depth = (int) Math.ceil(diameter / length) + 1;
        for (int axis = 0; axis < 3; axis++) {
            double voxels = 1 / spacing.along(axis);
            right[axis] = directions[0][axis] * pixel * voxels;
            down[axis] = -directions[1][axis] * pixel * voxels;
            step[axis] = -directions[2][axis] * length * voxels;
            double near = directions[2][axis] * scene.radius() * voxels;
            corner[axis] = scene.center()[axis] + near - (right[axis] + down[axis]) * (side - 1) / 2;
        }
        stepX = (float) step[0];
        stepY = (float) step[1];
        stepZ = (float) step[2];
    }

    /** Returns right, up and towards the viewer along the axes of the file, as unit vectors in space. */
    double[][] directions() {
        return directions;
    }

    /** Returns true if rays meet the slices from the last to the first. */
    boolean descending() {
        return stepZ < 0;
    }

    float start(int axis, int u, int v) {
        return (float) (corner[axis] + u * right[axis] + v * down[axis]);
    }

    /** Returns the first sample inside the padded volume, and the sample behind the last; equal if there is none. */
    int[] inside(int u, int v) {
        double enter = 0;
        double leave = depth;
        for (int axis = 0; axis < 3; axis++) {
            double from = 1 + EDGE - start(axis, u, v);
            double to = header.along(axis) + 2 - EDGE - start(axis, u, v);
            if (step[axis] == 0) {
                leave = from <= 0 && to >= 0 ? leave : -2; // never inside
            } else {
                double a = from / step[axis];
                double b = to / step[axis];
                enter = Math.max(enter, Math.min(a, b));
                leave = Math.min(leave, Math.max(a, b));
            }
        }
        int first = (int) Math.ceil(enter);
        return new int[] {first, Math.max(first, (int) Math.floor(leave) + 1)};
    }

    private static double[][] inFile(Orientation orientation, double[][] inPatient) {
        double[][] inFile = new double[3][3];
        for (int i = 0; i < 3; i++) {
            for (int axis = 0; axis < 3; axis++) {
                Orientation.Axis points = orientation.axis(axis);
                inFile[i][axis] = inPatient[i][points.world()] * (points.against() ? -1 : 1);
            }
        }
        return inFile;
    }
}
