// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

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
