// SPDX-License-Identifier: Apache-2.0
/** The OpenCL functions that the renderer calls. */
@NullMarked
package io.penstock.renderer.opencl.ffi;

import org.jspecify.annotations.NullMarked;
