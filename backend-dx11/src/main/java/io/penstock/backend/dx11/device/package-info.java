// SPDX-License-Identifier: Apache-2.0
/**
 * A Direct3D 11 device: its choice by options, its immediate context, the thread that calls it, the detection of
 * completed copies, its fences and the positions of transfers in its order, and the meaning of results. Depends on
 * neither buffers, textures nor paths.
 */
@NullMarked
package io.penstock.backend.dx11.device;

import org.jspecify.annotations.NullMarked;
