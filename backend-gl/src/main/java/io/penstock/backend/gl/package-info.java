// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers between files and OpenGL buffers and textures: straight into persistently mapped buffers, or through a ring
 * of mapped slots.
 *
 * <p>Whoever is content with a context of ours opens the backend {@code gl}. {@link io.penstock.backend.gl.GlBackends}
 * opens it in a context that shares with the application's, {@link io.penstock.backend.gl.GlPump} in the application's
 * own, from its render loop.
 */
@NullMarked
package io.penstock.backend.gl;

import org.jspecify.annotations.NullMarked;
