// SPDX-License-Identifier: Apache-2.0
/**
 * Buffers of a device, and their locks between copies and transfers by AMD's interface; regions of textures, as the
 * memory of one transfer. Does not depend on any path.
 */
@NullMarked
package io.penstock.backend.dx11.memory;

import org.jspecify.annotations.NullMarked;
