// SPDX-License-Identifier: Apache-2.0
/**
 * One io_uring: the memory shared with the kernel, its two queues, its tables of files and buffers, and the probe for
 * its availability. Works on descriptors and addresses; does not depend on files, memory or requests.
 *
 * <p>The ordering of the four indices of the shared memory is explained in {@link
 * io.penstock.engine.host.uring.SubmissionQueue} and {@link io.penstock.engine.host.uring.CompletionQueue} only.
 */
@NullMarked
package io.penstock.engine.host.uring;

import org.jspecify.annotations.NullMarked;
