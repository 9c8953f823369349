// SPDX-License-Identifier: Apache-2.0
/** How an application that draws with OpenGL has files streamed into its textures, and puts shaders behind that. */
@NullMarked
package io.penstock.renderer.gl;

import org.jspecify.annotations.NullMarked;
