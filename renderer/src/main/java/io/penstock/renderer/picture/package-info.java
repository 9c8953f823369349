// SPDX-License-Identifier: Apache-2.0
/** Pictures, and the PNG files that they become. */
@NullMarked
package io.penstock.renderer.picture;

import org.jspecify.annotations.NullMarked;
