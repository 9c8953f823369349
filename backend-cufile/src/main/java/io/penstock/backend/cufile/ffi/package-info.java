// SPDX-License-Identifier: Apache-2.0
/**
 * The CUDA driver API and libcufile, in their vendor's spelling.
 *
 * <p>The only package of this backend that depends on JNA. Addresses and handles are {@code long}. Output parameters
 * are arrays of one, which JNA copies: for set-up, never once per transfer.
 */
@NullMarked
package io.penstock.backend.cufile.ffi;

import org.jspecify.annotations.NullMarked;
