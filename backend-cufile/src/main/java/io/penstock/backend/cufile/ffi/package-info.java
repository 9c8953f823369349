// SPDX-License-Identifier: Apache-2.0
/**
 * The CUDA driver API and libcufile, in their vendor's spelling.
 *
 * <p>The only package of this backend that knows JNA. Addresses and handles are {@code long}; a value that a function
 * gives through a pointer comes back in an array of one, which JNA copies: for set-up, never once per transfer.
 */
@NullMarked
package io.penstock.backend.cufile.ffi;

import org.jspecify.annotations.NullMarked;
