// SPDX-License-Identifier: Apache-2.0
/** The functions of the CUDA driver and of its runtime compiler that the renderer calls. */
@NullMarked
package io.penstock.renderer.cuda.ffi;

import org.jspecify.annotations.NullMarked;
