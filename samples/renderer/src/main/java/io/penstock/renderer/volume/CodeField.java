// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/** Codes at any padded position. */
interface CodeField {

    /** Returns the code there, interpolated between the eight voxels around. */
    float at(float x, float y, float z);
}
