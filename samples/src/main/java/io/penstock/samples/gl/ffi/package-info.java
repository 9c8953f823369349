// SPDX-License-Identifier: Apache-2.0
/** What the samples call of OpenGL. */
@NullMarked
package io.penstock.samples.gl.ffi;

import org.jspecify.annotations.NullMarked;
