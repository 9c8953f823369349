// SPDX-License-Identifier: Apache-2.0
/**
 * EGL and OpenGL, in their own spelling.
 *
 * <p>The only package of this backend that knows JNA. Handles, addresses and sync objects are {@code long}, names
 * {@code int}; a value that a function gives through a pointer comes back in an array, which JNA copies: for set-up,
 * never once per transfer.
 */
@NullMarked
package io.penstock.backend.gl.ffi;

import org.jspecify.annotations.NullMarked;
