// SPDX-License-Identifier: Apache-2.0
/** What the samples call of OpenCL. */
@NullMarked
package io.penstock.samples.opencl.ffi;

import org.jspecify.annotations.NullMarked;
