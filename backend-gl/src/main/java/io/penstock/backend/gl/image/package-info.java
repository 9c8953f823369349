// SPDX-License-Identifier: Apache-2.0
/**
 * Boxes of textures: the layout of their texels in a file, and the pixel-unpack copies that fill them. Depends on
 * neither paths nor threads.
 */
@NullMarked
package io.penstock.backend.gl.image;

import org.jspecify.annotations.NullMarked;
