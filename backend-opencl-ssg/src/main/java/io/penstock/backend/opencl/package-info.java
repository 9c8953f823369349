// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers between files and the memory of OpenCL devices: by AMD's SSG extension where a device has it, otherwise by
 * staging buffers or mapped buffers. Applications use this package and {@code gma}; the other packages below it are
 * internal.
 *
 * <p>An application opens the backend {@code opencl-ssg}. It needs nothing from this package except, possibly, its
 * {@linkplain io.penstock.backend.opencl.OpenClOptions options}.
 */
@NullMarked
package io.penstock.backend.opencl;

import org.jspecify.annotations.NullMarked;
