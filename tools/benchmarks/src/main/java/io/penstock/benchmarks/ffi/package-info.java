// SPDX-License-Identifier: Apache-2.0
/** The C functions that the benchmarks call. */
@NullMarked
package io.penstock.benchmarks.ffi;

import org.jspecify.annotations.NullMarked;
