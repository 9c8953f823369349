// SPDX-License-Identifier: Apache-2.0
/**
 * The CUDA driver: contexts with what is kept in them, GPUs, failures, events as fences. Depends on {@code ffi} alone; knows no
 * option, no memory and no file.
 */
@NullMarked
package io.penstock.backend.cufile.cuda;

import org.jspecify.annotations.NullMarked;
