// SPDX-License-Identifier: Apache-2.0
/**
 * The tables of the HIP runtime and of hipFile. The only package of this backend that depends on JNA.
 */
@NullMarked
package io.penstock.backend.hip.ffi;

import org.jspecify.annotations.NullMarked;
