// SPDX-License-Identifier: Apache-2.0
/**
 * What libcufile tells people: whether there is one, how it is configured, its counters. Nothing here moves a byte.
 */
@NullMarked
package io.penstock.backend.cufile.report;

import org.jspecify.annotations.NullMarked;
