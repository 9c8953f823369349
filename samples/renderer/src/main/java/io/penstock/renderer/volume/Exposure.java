// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.util.Arrays;

/** The result of the rays so far, per pixel: light, and how much of what lies behind still shines through. */
final class Exposure {

    /** Below this transparency there is no visible difference in 8 bits. */
    static final float OPAQUE = 1 / 512f;

    private static final int TONES = 4096;

    final float[] red;
    final float[] green;
    final float[] blue;
    final float[] clear;
    private final int side;

    Exposure(int side) {
        this.side = side;
        red = new float[side * side];
        green = new float[side * side];
        blue = new float[side * side];
        clear = new float[side * side];
        Arrays.fill(clear, 1);
    }

    Picture develop() {
        byte[] tones = tones();
        byte[] rgb = new byte[3 * side * side];
        for (int pixel = 0; pixel < side * side; pixel++) {
            int row = pixel / side;
            float night = clear[pixel] * (0.004f + 0.012f * row / side);
            rgb[3 * pixel] = tone(tones, red[pixel] + night);
            rgb[3 * pixel + 1] = tone(tones, green[pixel] + night * 1.15f);
            rgb[3 * pixel + 2] = tone(tones, blue[pixel] + night * 1.5f);
        }
        return new Picture(side, side, rgb);
    }

    private static byte tone(byte[] tones, float light) {
        return tones[(int) (Math.min(light, 1) * (TONES - 1) + 0.5f)];
    }

    /** The transfer curve of sRGB. */
    private static byte[] tones() {
        byte[] tones = new byte[TONES];
        for (int i = 0; i < TONES; i++) {
            double light = (double) i / (TONES - 1);
            double tone = light <= 0.0031308 ? 12.92 * light : 1.055 * StrictMath.pow(light, 1 / 2.4) - 0.055;
            tones[i] = (byte) (tone * 255 + 0.5);
        }
        return tones;
    }
}
