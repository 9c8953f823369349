// SPDX-License-Identifier: Apache-2.0
/**
 * How an application draws with textures that transfers fill: on the backend's own Direct3D 11 device, in its order.
 */
@NullMarked
package io.penstock.renderer.dx11;

import org.jspecify.annotations.NullMarked;
