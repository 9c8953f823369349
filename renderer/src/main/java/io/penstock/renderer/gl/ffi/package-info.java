// SPDX-License-Identifier: Apache-2.0
/** What the renderer calls of OpenGL. */
@NullMarked
package io.penstock.renderer.gl.ffi;

import org.jspecify.annotations.NullMarked;
