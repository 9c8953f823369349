// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.picture;

/**
 * A picture in 8-bit RGB.
 *
 * @param width in pixels
 * @param height in pixels
 * @param rgb three bytes a pixel, rows from the top
 */
@SuppressWarnings("ArrayRecordComponent") // a picture is handed over, not copied
public record Picture(int width, int height, byte[] rgb) {

    /** The side of the square pictures that the renderer draws, in pixels. */
    public static final int SIDE = 512;

    public Picture {
        if (rgb.length != 3 * width * height) {
            throw new IllegalArgumentException(
                    "rgb must have 3 bytes for each of " + width + " x " + height + " pixels, had " + rgb.length);
        }
    }
}
