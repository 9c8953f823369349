// SPDX-License-Identifier: Apache-2.0
/**
 * The device and context that the options select, the context and its parts, and the place of a transfer in its order.
 * Does not depend on memory or paths: these keep their state as parts of the context.
 */
@NullMarked
package io.penstock.backend.opencl.context;

import org.jspecify.annotations.NullMarked;
