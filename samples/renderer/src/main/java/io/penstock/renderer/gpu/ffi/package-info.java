// SPDX-License-Identifier: Apache-2.0
/** The functions of the drivers of CUDA and HIP, and of their runtime compilers, that the renderer calls. */
@NullMarked
package io.penstock.renderer.gpu.ffi;

import org.jspecify.annotations.NullMarked;
