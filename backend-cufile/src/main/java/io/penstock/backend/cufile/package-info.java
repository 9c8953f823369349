// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers between files and the memory of NVIDIA GPUs: by cuFile where that is best, by slots and mappings of our own
 * where it is not.
 * This package has what applications use; the packages below it are internal.
 *
 * <p>An application opens the backend {@code cufile} and needs nothing of this package but, perhaps, its
 * {@linkplain io.penstock.backend.cufile.CufileOptions options}.
 */
@NullMarked
package io.penstock.backend.cufile;

import org.jspecify.annotations.NullMarked;
