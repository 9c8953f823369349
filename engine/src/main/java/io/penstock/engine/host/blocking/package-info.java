// SPDX-License-Identifier: Apache-2.0
/**
 * Host I/O for staging: blocking reads and writes between files and staging buffers, large ones through an io_uring
 * with the buffer registered. Does not depend on devices or queues.
 */
@NullMarked
package io.penstock.engine.host.blocking;

import org.jspecify.annotations.NullMarked;
