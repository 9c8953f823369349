// SPDX-License-Identifier: Apache-2.0
/** Whole-path benchmarks against peers; never released. */
@NullMarked
package io.penstock.benchmarks;

import org.jspecify.annotations.NullMarked;
