// SPDX-License-Identifier: Apache-2.0
/**
 * The path directly into mapped buffers, on devices that share the host's memory. A host queue does the I/O.
 */
@NullMarked
package io.penstock.backend.opencl.mapped;

import org.jspecify.annotations.NullMarked;
