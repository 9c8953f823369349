// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.picture;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

class JpegTest {

    private static final int SIDE = 256;

    /** A sphere in front of a gradient: smooth parts, and an edge. */
    private static Picture sphere() {
        byte[] rgb = new byte[3 * SIDE * SIDE];
        for (int pixel = 0; pixel < SIDE * SIDE; pixel++) {
            int row = pixel / SIDE;
            double from = Math.hypot(pixel % SIDE - SIDE / 2.0, row - SIDE / 2.0) / 100;
            int grey = from < 1 ? (int) (220 * Math.sqrt(1 - from * from)) + 20 : row / 8;
            rgb[3 * pixel] = (byte) grey;
            rgb[3 * pixel + 1] = (byte) (grey * 9 / 10);
            rgb[3 * pixel + 2] = (byte) (grey * 8 / 10);
        }
        return new Picture(SIDE, SIDE, rgb);
    }

    @Test
    void aJpegIsNearThePictureAndSmall() throws IOException {
        Picture picture = sphere();
        byte[] jpeg = Jpeg.of(picture);
        assertThat(jpeg.length).isLessThan(picture.rgb().length / 10);
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(jpeg));
        long off = 0;
        for (int pixel = 0; pixel < SIDE * SIDE; pixel++) {
            int red = image.getRGB(pixel % SIDE, pixel / SIDE) >> 16 & 0xff;
            off += Math.abs(red - Byte.toUnsignedInt(picture.rgb()[3 * pixel]));
        }
        assertThat((double) off / (SIDE * SIDE)).as("levels off, on average").isLessThan(2);
    }
}
