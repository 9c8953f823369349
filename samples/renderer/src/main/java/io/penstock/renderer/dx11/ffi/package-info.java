// SPDX-License-Identifier: Apache-2.0
/** Direct3D 11 and its shader compiler, as far as a projection needs them. */
@NullMarked
package io.penstock.renderer.dx11.ffi;

import org.jspecify.annotations.NullMarked;
