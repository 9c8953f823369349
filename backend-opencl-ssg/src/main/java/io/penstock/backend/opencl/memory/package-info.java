// SPDX-License-Identifier: Apache-2.0
/**
 * Buffers of a context: the backend's own, and buffers of the application. Independent of paths.
 */
@NullMarked
package io.penstock.backend.opencl.memory;

import org.jspecify.annotations.NullMarked;
