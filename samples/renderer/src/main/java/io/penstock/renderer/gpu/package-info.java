// SPDX-License-Identifier: Apache-2.0
/**
 * How an application orders its own CUDA or HIP work behind transfers: kernels, an event behind them, a fence of that
 * event.
 */
@NullMarked
package io.penstock.renderer.gpu;

import org.jspecify.annotations.NullMarked;
