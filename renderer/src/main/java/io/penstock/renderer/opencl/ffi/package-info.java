// SPDX-License-Identifier: Apache-2.0
/** What the renderer calls of OpenCL. */
@NullMarked
package io.penstock.renderer.opencl.ffi;

import org.jspecify.annotations.NullMarked;
