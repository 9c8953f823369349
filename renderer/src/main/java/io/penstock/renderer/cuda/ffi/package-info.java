// SPDX-License-Identifier: Apache-2.0
/** What the renderer calls of the CUDA driver and of its runtime compiler. */
@NullMarked
package io.penstock.renderer.cuda.ffi;

import org.jspecify.annotations.NullMarked;
