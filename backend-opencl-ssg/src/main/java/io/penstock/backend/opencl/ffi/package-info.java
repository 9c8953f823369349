// SPDX-License-Identifier: Apache-2.0
/**
 * The OpenCL API, in its vendor's spelling.
 *
 * <p>The only package of this backend that depends on JNA. Addresses and handles are {@code long}. Output parameters
 * for set-up are arrays of one, which JNA copies; functions called once per transfer take the addresses of cells in
 * native memory.
 */
@NullMarked
package io.penstock.backend.opencl.ffi;

import org.jspecify.annotations.NullMarked;
