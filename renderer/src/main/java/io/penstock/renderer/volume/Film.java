// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** What the rays of a frame leave behind, pixel by pixel. */
interface Film {

    /** Returns what gathers along rays through these codes, for one thread; threads share no pixel. */
    Gathering gathering(CodeField field);

    /** Returns the picture, once all rays have ended. */
    Picture develop();
}
