// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** How much each code hides of what lies behind it: nothing in the background, nearly all inside the tissue. */
final class Tissue {

    private static final int ENTRIES = 1024;
    private static final float SOFTNESS = 0.22f; // to each side of the surface, which by default lies in the middle
    private static final double DENSEST = 0.55; // what one sample hides at most

    private final float[] opacity = new float[ENTRIES + 1];
    private final float transparent;
    private final float entriesPerCode;
    private final float background;
    private final float perContrast;

    Tissue(Terrain terrain, Display display) {
        Histogram.Split split = terrain.split();
        float contrast = split.empty() ? Float.MAX_VALUE : split.tissue() - split.background();
        background = split.background();
        perContrast = 1 / contrast;
        float softness = SOFTNESS * (float) display.window();
        transparent = background + ((float) display.level() - softness) * contrast;
        entriesPerCode = ENTRIES / (2 * softness * contrast);
        for (int i = 0; i <= ENTRIES; i++) {
            double ramp = (double) i / ENTRIES;
            opacity[i] = (float) (DENSEST * ramp * ramp * (3 - 2 * ramp));
        }
    }

    /** Returns true if a sample of this code is visible at all. */
    boolean visible(float code) {
        return code > transparent;
    }

    /** Returns the table of {@link #opacity}. */
    float[] table() {
        return opacity.clone();
    }

    /**
     * Returns the code up to which nothing is visible, entries of the table per code, and background and scale of
     * {@link #density}.
     */
    float[] settings() {
        return new float[] {transparent, entriesPerCode, background, perContrast};
    }

    /** Returns how much a sample of a visible code hides, 0 to 1. */
    float opacity(float code) {
        return opacity[Math.min(ENTRIES, (int) ((code - transparent) * entriesPerCode))];
    }

    /** Returns a code as 0 for background to 1 for tissue, and beyond. */
    float density(float code) {
        return (code - background) * perContrast;
    }
}
