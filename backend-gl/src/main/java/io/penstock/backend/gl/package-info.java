// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers between files and OpenGL buffers and textures: directly into persistently mapped buffers, or through a ring
 * of mapped staging buffers.
 *
 * <p>The backend {@code gl} creates its own context. {@link io.penstock.backend.gl.GlBackends} opens it in a context
 * that shares with the application's, {@link io.penstock.backend.gl.GlPump} in the application's own context, from its
 * render loop. Applications use this package and {@link io.penstock.backend.gl.options}; the others are internal.
 */
@NullMarked
package io.penstock.backend.gl;

import org.jspecify.annotations.NullMarked;
