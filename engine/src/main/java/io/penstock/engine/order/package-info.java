// SPDX-License-Identifier: Apache-2.0
/**
 * What may run when: pins, locks of blocks, busy regions, order keys, the barrier of a sync, a place in the device's order.
 * Each is about keys and counts that it is given; knows no transfer and no queue.
 */
@NullMarked
package io.penstock.engine.order;

import org.jspecify.annotations.NullMarked;
