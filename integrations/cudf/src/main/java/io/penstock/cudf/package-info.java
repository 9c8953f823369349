// SPDX-License-Identifier: Apache-2.0
/**
 * cudf over Penstock: files for its readers, and columns over arrays in the GPU's memory, without a copy. Knows the API
 * and formats, no backend; the application has cudf's jar beside it.
 */
@NullMarked
package io.penstock.cudf;

import org.jspecify.annotations.NullMarked;
