// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.util.Arrays;

/**
 * Looks at a volume that lies whole in memory: every sample of every ray, one ray after the other, nothing skipped, no
 * slabs and no threads. What {@link RayView} must equal to the bit.
 */
final class PlainRays implements CodeField {

    private static final int PAD = CoarseMap.PAD;
    private static final int PIXELS = Picture.SIDE * Picture.SIDE;

    private final Scene scene;
    private final int width;
    private final int area;
    private final char[] codes;

    PlainRays(Scene scene, Showing showing) throws BadVolumeException {
        NiftiHeader header = scene.header();
        this.scene = scene;
        this.width = header.columns() + 2 * PAD;
        this.area = width * (header.rows() + 2 * PAD);
        this.codes = new char[area * (header.slices() + 2 * PAD)];
        Arrays.fill(codes, (char) scene.terrain().outside());
        showing.show(Long.MAX_VALUE / 4, new SlabVisitor() {
            @Override
            public long heldBytes(int slices) {
                return 0;
            }

            @Override
            public void visit(Slab slab) {
                copy(slab);
            }
        });
    }

    private void copy(Slab slab) {
        NiftiHeader header = scene.header();
        RowDecoder decoder = new RowDecoder(header);
        for (int z = slab.from(); z < slab.to(); z++) {
            for (int y = 0; y < header.rows(); y++) {
                float[] row = decoder.row(slab, (z - slab.from()) * header.rows() + y);
                scene.terrain().scale().encode(row, codes, (z + PAD) * area + (y + PAD) * width + PAD);
            }
        }
    }

    Picture shaded(Camera camera) {
        Rays rays = new Rays(scene, camera);
        Lights lights = new Lights(scene, new Light(rays), new Exposure(Picture.SIDE));
        Film.Gathering gathering = lights.gathering(this);
        for (int pixel = 0; pixel < PIXELS; pixel++) {
            gathering.load(pixel);
            samples(rays, pixel, (x, y, z, k) -> {
                float code = at(x, y, z);
                if (scene.tissue().visible(code) && !gathering.full()) {
                    gathering.take(x, y, z, code, k);
                }
            });
            gathering.store(pixel);
        }
        return lights.develop();
    }

    Picture maximum(Camera camera) {
        Rays rays = new Rays(scene, camera);
        Maxima maxima = new Maxima(scene);
        for (int i = 0; i < PIXELS; i++) {
            int pixel = i;
            samples(rays, pixel, (x, y, z, k) -> maxima.codes[pixel] = Math.max(maxima.codes[pixel], at(x, y, z)));
        }
        return maxima.develop();
    }

    private interface SampleVisitor {
        void visit(float x, float y, float z, int k);
    }

    private static void samples(Rays rays, int pixel, SampleVisitor visitor) {
        int u = pixel % Picture.SIDE;
        int v = pixel / Picture.SIDE;
        int[] inside = rays.inside(u, v);
        for (int k = inside[0]; k < inside[1]; k++) {
            float x = rays.start(0, u, v) + k * rays.stepX;
            float y = rays.start(1, u, v) + k * rays.stepY;
            float z = rays.start(2, u, v) + k * rays.stepZ;
            visitor.visit(x, y, z, k);
        }
    }

    @Override
    public float at(float x, float y, float z) {
        float low = plane(x, y, (int) z);
        return low + (plane(x, y, (int) z + 1) - low) * (z - (int) z);
    }

    private float plane(float x, float y, int z) {
        float low = line(x, (int) y, z);
        return low + (line(x, (int) y + 1, z) - low) * (y - (int) y);
    }

    private float line(float x, int y, int z) {
        int low = code((int) x, y, z);
        return low + (code((int) x + 1, y, z) - low) * (x - (int) x);
    }

    private int code(int x, int y, int z) {
        return codes[z * area + y * width + x];
    }
}
