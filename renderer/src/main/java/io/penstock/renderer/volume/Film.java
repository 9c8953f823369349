// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** The result of the rays of a frame, per pixel. */
interface Film {

    /** Returns a gathering along rays through these codes, for one thread; threads share no pixel. */
    Gathering gathering(CodeField field);

    /** Returns the picture, once all rays are complete. */
    Picture develop();
}
