// SPDX-License-Identifier: Apache-2.0
/** The OpenGL functions that the renderer calls. */
@NullMarked
package io.penstock.renderer.gl.ffi;

import org.jspecify.annotations.NullMarked;
