// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.util.Arrays;

/**
 * The largest code that each ray has met so far: maximum intensity. A ray that misses the volume has met the
 * surroundings.
 */
final class Maxima implements Film {

    final float[] codes;

    private final int side;
    private final GreyWindow window;

    Maxima(Scene scene) {
        side = scene.display().side();
        codes = new float[side * side];
        window = scene.window();
        Arrays.fill(codes, scene.terrain().outside());
    }

    @Override
    public Gathering gathering(CodeField field) {
        return new Highest();
    }

    @Override
    public Picture develop() {
        byte[] rgb = new byte[3 * codes.length];
        for (int pixel = 0; pixel < codes.length; pixel++) {
            Arrays.fill(rgb, 3 * pixel, 3 * pixel + 3, window.grey(window.brightness(codes[pixel])));
        }
        return new Picture(side, side, rgb);
    }

    private final class Highest implements Gathering {

        private float highest;

        @Override
        public void load(int pixel) {
            highest = codes[pixel];
        }

        @Override
        public boolean sees(float code) {
            return code > highest;
        }

        @Override
        public void take(float x, float y, float z, float code, int k) {
            highest = code;
        }

        @Override
        public boolean full() {
            return false;
        }

        @Override
        public void store(int pixel) {
            codes[pixel] = highest;
        }
    }
}
