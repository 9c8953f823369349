// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * Light on a surface: a key light over the viewer's left shoulder, a fill from the viewer, a highlight, the shadow
 * that lies in folds, and haze with depth.
 */
final class Light {

    private static final double[] KEY = {-0.48, 0.62, 0.62}; // right, up, towards the viewer
    private static final float AMBIENT = 0.16f;
    private static final float DIFFUSE = 0.60f;
    private static final float FILL = 0.20f;
    private static final float HIGHLIGHT = 0.16f;
    private static final float HAZE = 0.5f;

    private final float[] key;
    private final float[] viewer;
    private final float[] half;
    private final float hazePerSample;

    Light(Rays rays) {
        double[][] directions = rays.directions();
        double[] towardsKey = new double[3];
        double[] between = new double[3];
        double length = Math.sqrt(KEY[0] * KEY[0] + KEY[1] * KEY[1] + KEY[2] * KEY[2]);
        for (int axis = 0; axis < 3; axis++) {
            for (int i = 0; i < 3; i++) {
                towardsKey[axis] += KEY[i] / length * directions[i][axis];
            }
            between[axis] = towardsKey[axis] + directions[2][axis];
        }
        key = unit(towardsKey);
        viewer = unit(directions[2]);
        half = unit(between);
        hazePerSample = HAZE / rays.depth;
    }

    /** Returns the direction to the key light, a unit vector along the axes of the file. */
    float[] key() {
        return key.clone();
    }

    /** Returns the direction to the viewer. */
    float[] viewer() {
        return viewer.clone();
    }

    /** Returns the direction between the two. */
    float[] half() {
        return half.clone();
    }

    float hazePerSample() {
        return hazePerSample;
    }

    /** Returns the fraction of the light of sample {@code k} that remains behind the haze. */
    float haze(int k) {
        return 1 - hazePerSample * k;
    }

    /** Returns the light that falls on a surface with this unit normal, of which {@code open} is not in a fold. */
    float diffuse(float x, float y, float z, float open) {
        float toKey = Math.max(0, 0.15f + 0.85f * (x * key[0] + y * key[1] + z * key[2]));
        float toViewer = Math.max(0, x * viewer[0] + y * viewer[1] + z * viewer[2]);
        return (AMBIENT + DIFFUSE * toKey + FILL * toViewer) * open;
    }

    /** Returns the highlight on it. */
    float highlight(float x, float y, float z, float open) {
        float shine = Math.max(0, x * half[0] + y * half[1] + z * half[2]);
        float to4 = shine * shine * shine * shine;
        float to16 = to4 * to4 * to4 * to4;
        return HIGHLIGHT * to16 * to4 * to4 * open;
    }

    private static float[] unit(double[] vector) {
        double length = Math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
        return new float[] {(float) (vector[0] / length), (float) (vector[1] / length), (float) (vector[2] / length)};
    }
}
