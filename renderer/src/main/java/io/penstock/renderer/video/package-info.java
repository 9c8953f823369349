// SPDX-License-Identifier: Apache-2.0
/** Raw video: how its frames lie in a file, and when they are to be seen. */
@NullMarked
package io.penstock.renderer.video;

import org.jspecify.annotations.NullMarked;
