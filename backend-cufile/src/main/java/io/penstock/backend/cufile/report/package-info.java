// SPDX-License-Identifier: Apache-2.0
/**
 * Reports on libcufile: whether it is installed, its configuration, its counters. Moves no data.
 */
@NullMarked
package io.penstock.backend.cufile.report;

import org.jspecify.annotations.NullMarked;
