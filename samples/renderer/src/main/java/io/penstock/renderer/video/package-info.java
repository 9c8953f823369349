// SPDX-License-Identifier: Apache-2.0
/** Raw video: the layout of its frames in a file, and when they are shown. */
@NullMarked
package io.penstock.renderer.video;

import org.jspecify.annotations.NullMarked;
