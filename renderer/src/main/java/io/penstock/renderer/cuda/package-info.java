// SPDX-License-Identifier: Apache-2.0
/** How an application puts CUDA work of its own behind transfers: kernels, an event behind them, a fence of that event. */
@NullMarked
package io.penstock.renderer.cuda;

import org.jspecify.annotations.NullMarked;
