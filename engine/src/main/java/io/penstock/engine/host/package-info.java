// SPDX-License-Identifier: Apache-2.0
/**
 * Host memory and files, and the two ways to move bytes between them: io_uring, and file channels everywhere else.
 *
 * <p>{@link io.penstock.engine.host.Kernel} is the seam: everything a ring asks of the operating system goes through
 * it, so that a simulated kernel can answer from the real ring memory. Ring memory is shared with the kernel; the
 * ordering of its four indices is argued in {@link io.penstock.engine.host.SubmissionQueue} and
 * {@link io.penstock.engine.host.CompletionQueue}, and nowhere else.
 */
@NullMarked
package io.penstock.engine.host;

import org.jspecify.annotations.NullMarked;
