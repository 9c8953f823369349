// SPDX-License-Identifier: Apache-2.0
/**
 * The publishers that move chunks: stream and write, their buffers, and the leases on them. They reach the backend
 * through {@link io.penstock.engine.queue.Port} only.
 */
@NullMarked
package io.penstock.engine.stream;

import org.jspecify.annotations.NullMarked;
