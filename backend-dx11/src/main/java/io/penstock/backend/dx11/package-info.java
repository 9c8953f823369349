// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers between files and Direct3D 11 buffers.
 *
 * <p>An application opens the backend {@code dx11}, on the backend's device or on its own, and uses nothing of this
 * package except its {@linkplain io.penstock.backend.dx11.Dx11Options options}.
 */
@NullMarked
package io.penstock.backend.dx11;

import org.jspecify.annotations.NullMarked;
