// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** The light that each ray has gathered from what it met so far. */
record Lights(Scene scene, Light light, Exposure exposure) implements Film {

    @Override
    public Gathering gathering(CodeField field) {
        return new Samples(this, field);
    }

    @Override
    public Picture develop() {
        return exposure.develop();
    }

    /** Gathers light: what a sample sends to the viewer, as far as nothing before it hides that. */
    static final class Samples implements Gathering {

        private static final float NEAR_FOLD = 1.3f; // sampling distances of the light, in cubes of the map
        private static final float WIDE_FOLD = 3f;

        private final Exposure exposure;
        private final Tissue tissue;
        private final CoarseMap map;
        private final Light light;
        private final CodeField field;
        private final float[] perSpacing;
        private final float[] foldReach;

        private float red;
        private float green;
        private float blue;
        private float clear;

        Samples(Lights lights, CodeField field) {
            Scene scene = lights.scene();
            this.exposure = lights.exposure();
            this.tissue = scene.tissue();
            this.map = scene.terrain().map();
            this.light = lights.light();
            this.field = field;
            this.perSpacing = perSpacing(scene);
            this.foldReach = foldReach(scene);
        }

        /** Returns the finest spacing as a part of that along each axis. */
        static float[] perSpacing(Scene scene) {
            NiftiHeader.Spacing spacing = scene.header().spacing();
            double finest = Math.min(spacing.columns(), Math.min(spacing.rows(), spacing.slices()));
            float[] parts = new float[3];
            for (int axis = 0; axis < 3; axis++) {
                parts[axis] = (float) (finest / spacing.along(axis));
            }
            return parts;
        }

        /** Returns how far the light samples its surroundings along each axis, in voxels. */
        static float[] foldReach(Scene scene) {
            float[] reach = perSpacing(scene);
            for (int axis = 0; axis < 3; axis++) {
                reach[axis] *= 1 << scene.terrain().map().shift();
            }
            return reach;
        }

        @Override
        public boolean sees(float code) {
            return tissue.visible(code);
        }

        @Override
        public boolean full() {
            return clear < Exposure.OPAQUE;
        }

        @Override
        public void take(float x, float y, float z, float code, int k) {
            // Differences between the corners of a cube: the corners smooth the voxel steps that a cross would show.
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

        @Override
        public void load(int pixel) {
            red = exposure.red[pixel];
            green = exposure.green[pixel];
            blue = exposure.blue[pixel];
            clear = exposure.clear[pixel];
        }

        @Override
        public void store(int pixel) {
            exposure.red[pixel] = red;
            exposure.green[pixel] = green;
            exposure.blue[pixel] = blue;
            exposure.clear[pixel] = clear;
        }
    }
}
