// SPDX-License-Identifier: Apache-2.0
/**
 * Execution of open transfers as native requests: the thread of a native queue, its requests in flight, and the state
 * of a transfer until its last request has ended. Reaches the backend through {@link io.penstock.engine.queue.Port}
 * only; does not depend on publishers.
 */
@NullMarked
package io.penstock.engine.queue;

import org.jspecify.annotations.NullMarked;
