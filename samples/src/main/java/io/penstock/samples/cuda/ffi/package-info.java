// SPDX-License-Identifier: Apache-2.0
/** What the samples call of the CUDA driver and of its runtime compiler. */
@NullMarked
package io.penstock.samples.cuda.ffi;

import org.jspecify.annotations.NullMarked;
