// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;
import java.util.Arrays;

/**
 * The plane of a projection: one value for each line through the volume.
 *
 * @param display how the picture is displayed
 * @param along the axis of the file that the lines run along
 */
public record ProjectionPlane(NiftiHeader header, Display display, int along, int width, int height) {

    private static final int MOST_LINES = 1 << 27;

    /**
     * Describes one.
     *
     * @param world 0 to look from the left, 1 from the front, 2 from above
     * @throws BadVolumeException if the projection would be absurdly large
     */
    public static ProjectionPlane of(NiftiHeader header, int world, Display display) throws BadVolumeException {
        int along = header.orientation().fileAxis(world);
        int width = along == 0 ? header.rows() : header.columns();
        int height = along == 2 ? header.rows() : header.slices();
        if ((long) width * height > MOST_LINES) {
            throw new BadVolumeException("a projection of " + width + " x " + height + " voxels is too large");
        }
        return new ProjectionPlane(header, display, along, width, height);
    }

    /** Returns the picture of the largest voxel of each line. */
    public Picture picture(float[] maxima) {
        return Upright.of(header, along, display, maxima);
    }

    /** Shows a projection upright, in true proportions, in the window of grey that suits its values. */
    static final class Upright {

        private static final double MARGIN = 1.08;

        /** Right and up on the screen, as direction of the patient and its sign, for each direction of view. */
        private static final int[][] SCREEN = {
            {1, -1, 2, 1}, // from the left: the face is on the left
            {0, -1, 2, 1}, // from the front: the patient's right is on the left
            {0, 1, 1, 1}, // from above: the face is at the top
        };

        private final float[] maxima;
        private final Display display;
        private final int width;
        private final int height;
        private final GreyWindow window;

        private Upright(float[] maxima, int width, Display display) {
            this.display = display;
            this.maxima = maxima;
            this.width = width;
            this.height = maxima.length / width;
            this.window = GreyWindow.of(maxima).displayed(display);
        }

        static Picture of(NiftiHeader header, int along, Display display, float[] maxima) {
            int first = along == 0 ? 1 : 0;
            int second = along == 2 ? 1 : 2;
            Upright view = new Upright(maxima, header.along(first), display);
            int[] screen = SCREEN[header.orientation().axis(along).world()];
            Orientation.Axis firstAxis = header.orientation().axis(first);
            boolean upright = firstAxis.world() == screen[0];
            double[] spacing = {header.spacing().along(first), header.spacing().along(second)};
            double side = MARGIN
                    * Math.max(view.width * spacing[0], view.height * spacing[1])
                    / (display.side() * display.zoom());
            double[] right = new double[2];
            double[] up = new double[2];
            for (int i = 0; i < 2; i++) {
                Orientation.Axis axis = header.orientation().axis(i == 0 ? first : second);
                boolean isRight = upright == (i == 0);
                int sign = screen[isRight ? 1 : 3] * (axis.against() ? -1 : 1);
                (isRight ? right : up)[i] = sign * side / spacing[i];
            }
            return view.draw(right, up);
        }

        private Picture draw(double[] right, double[] up) {
            int side = display.side();
            byte[] rgb = new byte[3 * side * side];
            for (int v = 0; v < side; v++) {
                for (int u = 0; u < side; u++) {
                    double dx = u - (side - 1) / 2.0;
                    double dy = (side - 1) / 2.0 - v;
                    double a = (width - 1) / 2.0 + dx * right[0] + dy * up[0];
                    double b = (height - 1) / 2.0 + dx * right[1] + dy * up[1];
                    Arrays.fill(rgb, 3 * (v * side + u), 3 * (v * side + u) + 3, grey(a, b));
                }
            }
            return new Picture(side, side, rgb);
        }

        private byte grey(double a, double b) {
            int i = (int) Math.floor(a);
            int j = (int) Math.floor(b);
            double p = a - i;
            double q = b - j;
            double low = at(i, j) * (1 - p) + at(i + 1, j) * p;
            double high = at(i, j + 1) * (1 - p) + at(i + 1, j + 1) * p;
            return window.grey(low * (1 - q) + high * q);
        }

        /** Returns a maximum as brightness from 0 to 1; dark outside the projection. */
        private double at(int i, int j) {
            if (i < 0 || j < 0 || i >= width || j >= height) {
                return 0;
            }
            return window.brightness(maxima[j * width + i]);
        }
    }
}
