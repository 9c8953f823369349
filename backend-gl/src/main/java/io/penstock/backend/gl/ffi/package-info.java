// SPDX-License-Identifier: Apache-2.0
/**
 * EGL and OpenGL, in their own spelling.
 *
 * <p>The only package of this backend that depends on JNA. Handles, addresses and sync objects are {@code long}, names
 * {@code int}; a value that a function returns through a pointer is in an array, which JNA copies: for set-up, never
 * once per transfer.
 */
@NullMarked
package io.penstock.backend.gl.ffi;

import org.jspecify.annotations.NullMarked;
