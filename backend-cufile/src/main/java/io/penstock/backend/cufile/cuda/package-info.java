// SPDX-License-Identifier: Apache-2.0
/**
 * The CUDA driver: contexts and their parts, GPUs, failures, events as fences. Depends on {@code ffi} only, not on
 * options, memory or files.
 */
@NullMarked
package io.penstock.backend.cufile.cuda;

import org.jspecify.annotations.NullMarked;
