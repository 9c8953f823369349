// SPDX-License-Identifier: Apache-2.0
/**
 * The publishers that move chunks: stream and write, their buffers, and the leases on them. Knows no backend but {@link
 * io.penstock.engine.queue.Port}.
 */
@NullMarked
package io.penstock.engine.stream;

import org.jspecify.annotations.NullMarked;
