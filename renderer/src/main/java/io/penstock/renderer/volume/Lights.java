// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** The light that each ray has gathered from what it met so far. */
record Lights(Scene scene, Light light, Exposure exposure) implements Film {

    @Override
    public Gathering gathering(CodeField field) {
        return new LightGathering(this, field);
    }

    @Override
    public Picture develop() {
        return exposure.develop();
    }
}
