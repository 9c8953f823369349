// SPDX-License-Identifier: Apache-2.0
/**
 * Counts the transfers of a backend in a Micrometer {@code MeterRegistry}. Knows the API alone: any backend will do.
 */
@NullMarked
package io.penstock.micrometer;

import org.jspecify.annotations.NullMarked;
