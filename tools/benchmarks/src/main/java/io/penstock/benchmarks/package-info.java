// SPDX-License-Identifier: Apache-2.0
/** JMH and whole-path benchmarks against peers; never released. */
@NullMarked
package io.penstock.benchmarks;

import org.jspecify.annotations.NullMarked;
