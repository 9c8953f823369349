// SPDX-License-Identifier: Apache-2.0
/**
 * Ordering and lifetime: pins, block locks, busy regions, order keys, sync barriers, fence points in the device's
 * stream. Each works on the keys and counts that it is given; none depends on transfers or queues.
 */
@NullMarked
package io.penstock.engine.order;

import org.jspecify.annotations.NullMarked;
