// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** The result of the rays of a frame, per pixel. */
interface Film {

    /** Returns a gathering along rays through these codes, for one thread; threads share no pixel. */
    Gathering gathering(CodeField field);

    /** Returns the picture, once all rays are complete. */
    Picture develop();

    /**
     * What one ray gathers, sample by sample, front to back.
     *
     * <p><b>Threading:</b> for one thread.
     */
    interface Gathering {

        /** Loads what the ray of a pixel has gathered before. */
        void load(int pixel);

        /** Returns true if a sample of this code adds anything; if it does not, neither does one of a smaller code. */
        boolean sees(float code);

        /** Takes sample {@code k}, whose code is seen, at a padded position. */
        void take(float x, float y, float z, float code, int k);

        /** Returns true if no further sample can add anything. */
        boolean full();

        /** Stores what the ray of a pixel has gathered so far. */
        void store(int pixel);
    }
}
