// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.volume;

/**
 * What one ray gathers, sample by sample, front to back.
 *
 * <p><b>Threading:</b> for one thread.
 */
final class Gathering {

    private static final float NEAR_FOLD = 1.3f; // distances at which the light looks around, in cubes of the map
    private static final float WIDE_FOLD = 3f;

    private final Tissue tissue;
    private final CoarseMap map;
    private final Light light;
    private final CodeField field;
    private final float[] perSpacing = new float[3];
    private final float[] foldReach = new float[3];

    private float red;
    private float green;
    private float blue;
    private float clear;

    Gathering(Scene scene, Light light, CodeField field) {
        this.tissue = scene.tissue();
        this.map = scene.terrain().map();
        this.light = light;
        this.field = field;
        NiftiHeader.Spacing spacing = scene.header().spacing();
        double finest = Math.min(spacing.columns(), Math.min(spacing.rows(), spacing.slices()));
        for (int axis = 0; axis < 3; axis++) {
            perSpacing[axis] = (float) (finest / spacing.along(axis));
            foldReach[axis] = perSpacing[axis] * (1 << map.shift());
        }
    }

    /** Returns the finest spacing as a part of that along each axis. */
    float[] perSpacing() {
        return perSpacing.clone();
    }

    /** Returns how far the light looks around along each axis, in voxels. */
    float[] foldReach() {
        return foldReach.clone();
    }

    /** Returns whether nothing behind can be seen any more. */
    boolean opaque() {
        return clear < Exposure.OPAQUE;
    }

    /** Takes the light of sample {@code k}, whose code is visible, at a padded position. */
    void take(float x, float y, float z, float code, int k) {
        // Differences between the corners of a cube: the corners smooth what a cross would show as steps of voxels.
        float lll = field.at(x - 1, y - 1, z - 1) - field.at(x + 1, y + 1, z + 1);
        float hll = field.at(x + 1, y - 1, z - 1) - field.at(x - 1, y + 1, z + 1);
        float lhl = field.at(x - 1, y + 1, z - 1) - field.at(x + 1, y - 1, z + 1);
        float llh = field.at(x - 1, y - 1, z + 1) - field.at(x + 1, y + 1, z - 1);
        float nx = (lll - hll + lhl + llh) * perSpacing[0];
        float ny = (lll + hll - lhl + llh) * perSpacing[1];
        float nz = (lll + hll + lhl - llh) * perSpacing[2];
        float scale = 1 / (float) Math.sqrt(nx * nx + ny * ny + nz * nz + 1e-6f);
        nx *= scale;
        ny *= scale;
        nz *= scale;
        float open = open(x, y, z, nx, ny, nz);
        float haze = light.haze(k);
        float lit = light.diffuse(nx, ny, nz, open) * haze;
        float shine = light.highlight(nx, ny, nz, open) * haze;
        float share = clear * tissue.opacity(code);
        red += share * (lit * (0.80f + 0.16f * open) + shine);
        green += share * (lit * (0.56f + 0.32f * open) + shine);
        blue += share * (lit * (0.48f + 0.33f * open) + shine);
        clear -= share;
    }

    /** Returns how open the surroundings above a surface are, from 0 deep in a fold to 1. */
    private float open(float x, float y, float z, float nx, float ny, float nz) {
        float stepX = nx * foldReach[0];
        float stepY = ny * foldReach[1];
        float stepZ = nz * foldReach[2];
        float near = map.mean(x + NEAR_FOLD * stepX, y + NEAR_FOLD * stepY, z + NEAR_FOLD * stepZ);
        float wide = map.mean(x + WIDE_FOLD * stepX, y + WIDE_FOLD * stepY, z + WIDE_FOLD * stepZ);
        float shut = 0.6f * tissue.density(near) + 0.5f * tissue.density(wide);
        float open = 1 - Math.max(0, Math.min(shut, 1));
        return 0.12f + 0.88f * open;
    }

    void load(Exposure exposure, int pixel) {
        red = exposure.red[pixel];
        green = exposure.green[pixel];
        blue = exposure.blue[pixel];
        clear = exposure.clear[pixel];
    }

    void store(Exposure exposure, int pixel) {
        exposure.red[pixel] = red;
        exposure.green[pixel] = green;
        exposure.blue[pixel] = blue;
        exposure.clear[pixel] = clear;
    }
}
