// SPDX-License-Identifier: Apache-2.0
/** What the benchmarks call in C. */
@NullMarked
package io.penstock.benchmarks.ffi;

import org.jspecify.annotations.NullMarked;
