// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.volume;

import io.penstock.samples.picture.Picture;
import java.util.Arrays;

/** Shows a projection upright, in true proportions, in the window of grey that suits its values. */
final class ProjectionView {

    private static final double MARGIN = 1.08;
    private static final int TONES = 4096;
    private static final float VISIBLE = 0.1f;
    private static final double MIDDLE_GREY = 0.5;
    private static final double STEEPEST = 8;

    /** Right and up on the screen, as direction of the patient and its sign, for each direction of view. */
    private static final int[][] SCREEN = {
        {1, -1, 2, 1}, // from the left: the face is on the left
        {0, -1, 2, 1}, // from the front: the patient's right is on the left
        {0, 1, 1, 1}, // from above: the face is at the top
    };

    private final float[] maxima;
    private final int width;
    private final int height;
    private final float black;
    private final float white;
    private final byte[] tones;

    private ProjectionView(float[] maxima, int width, float[] window) {
        this.maxima = maxima;
        this.width = width;
        this.height = maxima.length / width;
        this.black = window[0];
        this.white = window[1];
        this.tones = tones(window);
    }

    static Picture of(NiftiHeader header, int along, float[] maxima) {
        int first = along == 0 ? 1 : 0;
        int second = along == 2 ? 1 : 2;
        ProjectionView view = new ProjectionView(maxima, header.along(first), window(maxima));
        int[] screen = SCREEN[header.orientation().axis(along).world()];
        Orientation.Axis firstAxis = header.orientation().axis(first);
        boolean upright = firstAxis.world() == screen[0];
        double[] spacing = {header.spacing().along(first), header.spacing().along(second)};
        double side = MARGIN * Math.max(view.width * spacing[0], view.height * spacing[1]) / Picture.SIDE;
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

    /**
     * Black is what lies around everything, white what only one line in a thousand exceeds, and the middle of what is
     * not black is a middle grey: maxima crowd at the bright end.
     */
    private static float[] window(float[] maxima) {
        float[] sorted = maxima.clone();
        Arrays.sort(sorted);
        int finite = firstAbove(sorted, -Float.MAX_VALUE);
        int end = firstAbove(sorted, Float.POSITIVE_INFINITY);
        if (finite == end) {
            return new float[] {0, 1, 1};
        }
        float black = sorted[finite];
        float bright = sorted[finite + (int) ((end - finite - 1) * 0.999)];
        float white = bright > black ? bright : Math.max(sorted[end - 1], Math.nextUp(black));
        int visible = firstAbove(sorted, black + VISIBLE * (white - black));
        float middle = sorted[Math.min((visible + end) / 2, end - 1)];
        return new float[] {black, white, middle};
    }

    /** Returns the index of the first value that is at least {@code limit}. */
    private static int firstAbove(float[] sorted, float limit) {
        int at = Arrays.binarySearch(sorted, limit);
        at = at < 0 ? -at - 1 : at;
        while (at > 0 && sorted[at - 1] == limit) {
            at--;
        }
        return at;
    }

    private static byte[] tones(float[] window) {
        double middle = ((double) window[2] - window[0]) / ((double) window[1] - window[0]);
        double gamma = middle > 0 && middle < 1 ? StrictMath.log(MIDDLE_GREY) / StrictMath.log(middle) : 1;
        gamma = Math.max(1, Math.min(gamma, STEEPEST));
        byte[] tones = new byte[TONES];
        for (int i = 0; i < TONES; i++) {
            tones[i] = (byte) (255 * StrictMath.pow((double) i / (TONES - 1), gamma) + 0.5);
        }
        return tones;
    }

    private Picture draw(double[] right, double[] up) {
        int side = Picture.SIDE;
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
        return tones[(int) ((low * (1 - q) + high * q) * (TONES - 1) + 0.5)];
    }

    /** Returns a maximum as brightness from 0 to 1; around the projection it is dark. */
    private double at(int i, int j) {
        if (i < 0 || j < 0 || i >= width || j >= height) {
            return 0;
        }
        double bright = ((double) maxima[j * width + i] - black) / ((double) white - black);
        return bright > 0 ? Math.min(bright, 1) : 0;
    }
}
