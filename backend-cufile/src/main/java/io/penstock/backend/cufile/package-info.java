// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers between files and the memory of NVIDIA GPUs: by cuFile where that is best, otherwise by staging buffers or
 * mapped files. Applications use this package; the packages below it are internal.
 *
 * <p>An application opens the backend {@code cufile}. It needs nothing from this package except, possibly, its
 * {@linkplain io.penstock.backend.cufile.CufileOptions options}.
 */
@NullMarked
package io.penstock.backend.cufile;

import org.jspecify.annotations.NullMarked;
