// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** Counts of codes. Counts are exact, so they do not depend on the order of counting. */
final class Histogram {

    private final long[] counts;

    Histogram(int codes) {
        counts = new long[codes];
    }

    synchronized void add(int[] more) {
        for (int code = 0; code < more.length; code++) {
            counts[code] += more[code];
        }
    }

    /** Returns the smallest code that occurs. */
    int lowest() {
        int code = 0;
        while (code < counts.length - 1 && counts[code] == 0) {
            code++;
        }
        return code;
    }

    /** Splits background from tissue where the variance between the two is largest (Otsu 1979). */
    Split split() {
        double total = 0;
        double sum = 0;
        for (int code = 0; code < counts.length; code++) {
            total += counts[code];
            sum += (double) counts[code] * code;
        }
        Split best = new Split(lowest(), lowest());
        double bestVariance = 0;
        double below = 0;
        double belowSum = 0;
        for (int code = 0; code < counts.length - 1; code++) {
            below += counts[code];
            belowSum += (double) counts[code] * code;
            double above = total - below;
            if (below > 0 && above > 0) {
                double gap = (sum - belowSum) / above - belowSum / below;
                double variance = below * above * gap * gap;
                if (variance > bestVariance) {
                    bestVariance = variance;
                    best = new Split((float) (belowSum / below), (float) ((sum - belowSum) / above));
                }
            }
        }
        return best;
    }

    /**
     * The mean codes of background and of tissue; equal if there is only one code.
     *
     * @param background mean code around the tissue
     * @param tissue mean code of the tissue
     */
    record Split(float background, float tissue) {

        boolean empty() {
            return tissue <= background;
        }
    }
}
