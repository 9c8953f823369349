// SPDX-License-Identifier: Apache-2.0
/**
 * The publishers of single operations: submit, sync, enqueue, open, upload and download. They reach the backend through
 * {@link io.penstock.engine.queue.Port} only.
 */
@NullMarked
package io.penstock.engine.publisher;

import org.jspecify.annotations.NullMarked;
