// SPDX-License-Identifier: Apache-2.0
/**
 * The OpenCL API, in its vendor's spelling.
 *
 * <p>The only package of this backend that knows JNA. Addresses and handles are {@code long}. What set-up needs comes back
 * in arrays of one, which JNA copies; what is called once per transfer takes the addresses of cells in native memory.
 */
@NullMarked
package io.penstock.backend.opencl.ffi;

import org.jspecify.annotations.NullMarked;
