// SPDX-License-Identifier: Apache-2.0
/**
 * The path through staging buffers: the staging buffers, and the copies between them and device buffers. Independent of
 * the more direct paths.
 */
@NullMarked
package io.penstock.backend.opencl.staged;

import org.jspecify.annotations.NullMarked;
