// SPDX-License-Identifier: Apache-2.0
/**
 * The paths by the file API, and their queues: blocking calls on threads, batches, and calls in the order of streams.
 * What the latter two refuse goes to blocking calls.
 */
@NullMarked
package io.penstock.backend.gpu.paths;

import org.jspecify.annotations.NullMarked;
