// SPDX-License-Identifier: Apache-2.0
/**
 * The publishers of single operations: submit, sync, enqueue, open, upload and download. Knows no backend but {@link
 * io.penstock.engine.queue.Port}.
 */
@NullMarked
package io.penstock.engine.publisher;

import org.jspecify.annotations.NullMarked;
