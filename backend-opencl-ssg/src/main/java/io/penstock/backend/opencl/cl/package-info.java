// SPDX-License-Identifier: Apache-2.0
/**
 * OpenCL: platforms, devices, their properties, failures, events as fences. Depends on {@code ffi} only, not on
 * options, this backend's contexts or transfers.
 */
@NullMarked
package io.penstock.backend.opencl.cl;

import org.jspecify.annotations.NullMarked;
