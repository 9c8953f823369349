// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.renderer.picture.Picture;

/** Composes one picture of a volume, slab by slab. */
public interface Composition extends SlabVisitor {

    /** Returns the picture, once every slab was visited. */
    Picture finish();
}
