// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.volume;

import io.penstock.samples.picture.Picture;

/**
 * Shades a volume that lies whole in memory: every sample of every ray, one ray after the other, nothing skipped, no
 * slabs and no threads. What {@link ShadedView} must equal to the bit.
 */
final class PlainShading implements CodeField {

    private static final int PAD = CoarseMap.PAD;

    private final Scene scene;
    private final int width;
    private final int area;
    private final char[] codes;

    PlainShading(Scene scene, Showing showing) throws BadVolumeException {
        NiftiHeader header = scene.header();
        this.scene = scene;
        this.width = header.columns() + 2 * PAD;
        this.area = width * (header.rows() + 2 * PAD);
        this.codes = new char[area * (header.slices() + 2 * PAD)];
        java.util.Arrays.fill(codes, (char) scene.terrain().outside());
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

    Picture picture(Camera camera) {
        Rays rays = new Rays(scene, camera);
        Gathering gathering = new Gathering(scene, new Light(rays), this);
        Exposure exposure = new Exposure();
        for (int pixel = 0; pixel < Picture.SIDE * Picture.SIDE; pixel++) {
            int u = pixel % Picture.SIDE;
            int v = pixel / Picture.SIDE;
            int[] inside = rays.inside(u, v);
            gathering.load(exposure, pixel);
            for (int k = inside[0]; k < inside[1] && !gathering.opaque(); k++) {
                float x = rays.start(0, u, v) + k * rays.stepX;
                float y = rays.start(1, u, v) + k * rays.stepY;
                float z = rays.start(2, u, v) + k * rays.stepZ;
                float code = at(x, y, z);
                if (scene.tissue().visible(code)) {
                    gathering.take(x, y, z, code, k);
                }
            }
            gathering.store(exposure, pixel);
        }
        return exposure.develop();
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
