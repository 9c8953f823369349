// SPDX-License-Identifier: Apache-2.0
/**
 * The functions of UCX that are used, in its own spelling.
 *
 * <p>The only package of this module that depends on JNA. Handles and addresses are {@code long}; structures are laid
 * out in memory that is reused.
 */
@NullMarked
package io.penstock.remote.ucx.ffi;

import org.jspecify.annotations.NullMarked;
