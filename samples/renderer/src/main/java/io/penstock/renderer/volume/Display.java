// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/**
 * How a view is displayed: its size, its magnification, and window and level as radiologists use them, but relative to
 * what suits the volume by itself. For maxima they are the greys, for shaded pictures the codes at which tissue becomes
 * visible.
 *
 * @param side of the square picture in pixels: 64 to {@link Picture#SIDE}, a multiple of 16, so that pixels fill the
 *     groups of threads of every device
 * @param zoom magnification; at 1 all tissue fits
 * @param level the middle of the window, 0 to 1; 0.5 by default
 * @param window its width, greater than 0; 1 by default
 */
public record Display(int side, double zoom, double level, double window) {

    /** What suits the volume, at the full size. */
    public static final Display DEFAULT = new Display(Picture.SIDE, 1, 0.5, 1);

    private static final int LEAST_SIDE = 64;
    private static final int GRAIN = 16;
    private static final double MOST = 64;

    public Display {
        if (side < LEAST_SIDE || side > Picture.SIDE || side % GRAIN != 0) {
            throw new IllegalArgumentException("side must be a multiple of " + GRAIN + " from " + LEAST_SIDE + " to "
                    + Picture.SIDE + " pixels, was " + side);
        }
        check("zoom", zoom, 1 / MOST, MOST);
        check("level", level, 0, 1);
        check("window", window, 1 / MOST, MOST);
    }

    private static void check(String what, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new IllegalArgumentException(what + " must be " + least + " to " + most + ", was " + value);
        }
    }

    int pixels() {
        return side * side;
    }
}
