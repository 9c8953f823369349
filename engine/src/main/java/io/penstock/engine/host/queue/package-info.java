// SPDX-License-Identifier: Apache-2.0
/**
 * The two native queues of the host's path: one over an io_uring, one over blocking calls on threads. Does not depend
 * on options or paths.
 */
@NullMarked
package io.penstock.engine.host.queue;

import org.jspecify.annotations.NullMarked;
