// SPDX-License-Identifier: Apache-2.0
/**
 * How an application orders its own OpenCL kernels behind transfers: its own queue, an event, a fence of that event.
 */
@NullMarked
package io.penstock.renderer.opencl;

import org.jspecify.annotations.NullMarked;
