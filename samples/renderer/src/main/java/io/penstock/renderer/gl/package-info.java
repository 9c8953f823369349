// SPDX-License-Identifier: Apache-2.0
/**
 * How an application that draws with OpenGL streams files into its textures, and orders shaders behind the transfers.
 */
@NullMarked
package io.penstock.renderer.gl;

import org.jspecify.annotations.NullMarked;
