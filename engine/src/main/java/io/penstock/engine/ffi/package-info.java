// SPDX-License-Identifier: Apache-2.0
/**
 * The C library and io_uring's binary interface, as the vendor spells them.
 *
 * <p>The only package of the engine that knows JNA; no JNA type leaves it. Addresses and handles are {@code long},
 * structures are laid out over byte buffers: a JNA structure or pointer per call would cost more than the call.
 */
@NullMarked
package io.penstock.engine.ffi;

import org.jspecify.annotations.NullMarked;
