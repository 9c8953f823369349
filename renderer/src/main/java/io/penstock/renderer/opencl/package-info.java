// SPDX-License-Identifier: Apache-2.0
/** How an application puts OpenCL kernels of its own behind transfers: a queue of its own, an event, a fence of that event. */
@NullMarked
package io.penstock.renderer.opencl;

import org.jspecify.annotations.NullMarked;
