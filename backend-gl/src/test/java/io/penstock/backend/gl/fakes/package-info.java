// SPDX-License-Identifier: Apache-2.0
/** The fake of AMD's driver for an SSG in OpenGL. */
@NullMarked
package io.penstock.backend.gl.fakes;

import org.jspecify.annotations.NullMarked;
