// SPDX-License-Identifier: Apache-2.0
/** Pictures, and PNG files of them. */
@NullMarked
package io.penstock.renderer.picture;

import org.jspecify.annotations.NullMarked;
