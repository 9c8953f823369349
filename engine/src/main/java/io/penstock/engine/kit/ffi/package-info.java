// SPDX-License-Identifier: Apache-2.0
/**
 * Native calls for backends: vendors' libraries, host memory by its address, and the part of the C library that drivers
 * need.
 *
 * <p>No JNA type is exposed. Addresses and handles are {@code long}, structures are laid out over byte buffers: a JNA
 * structure or pointer per call would cost more than the call.
 */
@NullMarked
package io.penstock.engine.kit.ffi;

import org.jspecify.annotations.NullMarked;
