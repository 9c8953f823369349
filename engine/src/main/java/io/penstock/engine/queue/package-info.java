// SPDX-License-Identifier: Apache-2.0
/**
 * From an open transfer to native requests and back: the thread of a native queue, its requests in flight, and the state of a
 * transfer until its last request has ended. Reaches the backend by {@link io.penstock.engine.queue.Port} only; knows no
 * publisher.
 */
@NullMarked
package io.penstock.engine.queue;

import org.jspecify.annotations.NullMarked;
