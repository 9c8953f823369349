// SPDX-License-Identifier: Apache-2.0
/**
 * Counts the transfers of a backend in a Micrometer {@code MeterRegistry}. Depends on the API only: works with every
 * backend.
 */
@NullMarked
package io.penstock.micrometer;

import org.jspecify.annotations.NullMarked;
