// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * Moves the rays of one row of pixels through the slices that are in the window.
 *
 * <p><b>Threading:</b> for one thread; rows share nothing that is written.
 */
final class RowMarch {

    private static final float FAR = 1e9f; // more samples than any ray has

    private final CoarseMap map;
    private final SlabWindow window;
    private final Film.Gathering gathering;
    private final Rays rays;
    private final float sliceFrom;
    private final float sliceTo;
    private final float perStepX;
    private final float perStepY;
    private final float perStepZ;

    private float startX;
    private float startY;
    private float startZ;

    RowMarch(CoarseMap map, Rays rays, SlabWindow window, Film film) {
        this.map = map;
        this.window = window;
        this.gathering = film.gathering(window);
        this.rays = rays;
        this.sliceFrom = window.readyFrom();
        this.sliceTo = window.readyTo();
        this.perStepX = inverse(rays.stepX);
        this.perStepY = inverse(rays.stepY);
        this.perStepZ = inverse(rays.stepZ);
    }

    void march(int side, int v, int[] next, int[] end) {
        for (int u = 0; u < side; u++) {
            int pixel = v * side + u;
            if (next[pixel] < end[pixel]) {
                startX = rays.start(0, u, v);
                startY = rays.start(1, u, v);
                startZ = rays.start(2, u, v);
                gathering.load(pixel);
                int k = march(next[pixel], end[pixel]);
                next[pixel] = gathering.full() ? end[pixel] : k;
                gathering.store(pixel);
            }
        }
    }

    /** Takes the samples from {@code k} on that lie in the window's slices, and returns the first that does not. */
    private int march(int k, int end) {
        int sample = k;
        while (sample < end) {
            float z = startZ + sample * rays.stepZ;
            if (z < sliceFrom || z >= sliceTo) {
                return sample;
            }
            float x = startX + sample * rays.stepX;
            float y = startY + sample * rays.stepY;
            int shift = map.shift();
            int cell = map.index((int) x >> shift, (int) y >> shift, (int) z >> shift);
            if (!gathering.sees(map.highest(cell))) {
                sample += emptySamples(x, y, z);
                continue;
            }
            float code = window.at(x, y, z);
            if (gathering.sees(code)) {
                gathering.take(x, y, z, code, sample);
                if (gathering.full()) {
                    return end;
                }
            }
            sample++;
        }
        return sample;
    }

    /** Returns how many samples from this one on lie in its cube of the map, at least 1. */
    private int emptySamples(float x, float y, float z) {
        float samples = Math.min(
                left(x, rays.stepX, perStepX), Math.min(left(y, rays.stepY, perStepY), left(z, rays.stepZ, perStepZ)));
        // The hundredth compensates for rounding: one sample too few costs a useless check, one too many is missed.
        return (int) (samples - 0.01f) + 1;
    }

    private float left(float at, float step, float perStep) {
        if (step == 0) {
            return FAR;
        }
        int cube = (int) at >> map.shift();
        float to = step > 0 ? (cube + 1) << map.shift() : cube << map.shift();
        return (to - at) * perStep;
    }

    private static float inverse(float step) {
        return 1 / step;
    }
}
