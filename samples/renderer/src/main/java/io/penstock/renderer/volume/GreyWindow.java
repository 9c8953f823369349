// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.util.Arrays;

/**
 * The window of grey that suits maxima. Black is what lies around everything, white what only one line in a thousand
 * exceeds, and the middle of what is not black is a middle grey: maxima crowd at the bright end.
 */
final class GreyWindow {

    private static final int TONES = 4096;
    private static final float VISIBLE = 0.1f;
    private static final double MIDDLE_GREY = 0.5;
    private static final double STEEPEST = 8;

    private final double black;
    private final double white;
    private final byte[] tones;

    private GreyWindow(float black, float white, float middle) {
        this(black, white, tones(((double) middle - black) / ((double) white - black)));
    }

    private GreyWindow(double black, double white, byte[] tones) {
        this.black = black;
        this.white = white;
        this.tones = tones;
    }

    /** Returns this window with another level and width. */
    GreyWindow displayed(Display display) {
        double span = white - black;
        double half = display.window() / 2;
        // Added to both ends, so that the defaults change nothing.
        return new GreyWindow(
                black + (display.level() - half) * span, white + (display.level() + half - 1) * span, tones);
    }

    static GreyWindow of(float[] maxima) {
        float[] sorted = maxima.clone();
        Arrays.sort(sorted);
        int finite = firstAbove(sorted, -Float.MAX_VALUE);
        int end = firstAbove(sorted, Float.POSITIVE_INFINITY);
        if (finite == end) {
            return new GreyWindow(0, 1, 1);
        }
        float black = sorted[finite];
        float bright = sorted[finite + (int) ((end - finite - 1) * 0.999)];
        float white = bright > black ? bright : Math.max(sorted[end - 1], Math.nextUp(black));
        int visible = firstAbove(sorted, black + VISIBLE * (white - black));
        return new GreyWindow(black, white, sorted[Math.min((visible + end) / 2, end - 1)]);
    }

    /** Returns a maximum as brightness from 0 to 1. */
    double brightness(float maximum) {
        double bright = ((double) maximum - black) / (white - black);
        return bright > 0 ? Math.min(bright, 1) : 0;
    }

    /** Returns the grey of a brightness from 0 to 1. */
    byte grey(double brightness) {
        return tones[(int) (brightness * (TONES - 1) + 0.5)];
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

    private static byte[] tones(double middle) {
        double gamma = middle > 0 && middle < 1 ? StrictMath.log(MIDDLE_GREY) / StrictMath.log(middle) : 1;
        gamma = Math.max(1, Math.min(gamma, STEEPEST));
        byte[] tones = new byte[TONES];
        for (int i = 0; i < TONES; i++) {
            tones[i] = (byte) (255 * StrictMath.pow((double) i / (TONES - 1), gamma) + 0.5);
        }
        return tones;
    }
}
