// SPDX-License-Identifier: Apache-2.0
/** Regions of textures, as the memory of one transfer. Does not depend on any path. */
@NullMarked
package io.penstock.backend.dx11.image;

import org.jspecify.annotations.NullMarked;
