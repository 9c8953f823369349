// SPDX-License-Identifier: Apache-2.0
/** The double of AMD's driver for an SSG in OpenGL. */
@NullMarked
package io.penstock.backend.gl.doubles;

import org.jspecify.annotations.NullMarked;
