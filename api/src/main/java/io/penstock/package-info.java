// SPDX-License-Identifier: Apache-2.0
/**
 * The public API: transfers between regions of files and regions of device memory, as Reactor publishers.
 *
 * <p>Start at {@link io.penstock.Backends}. Every publisher of this package is lazy: nothing happens before
 * {@code subscribe}, and {@code subscribe} never blocks. What owns something native is
 * {@link java.lang.AutoCloseable}, and the subscriber closes it; a {@link io.penstock.Completion} owns nothing.
 */
@NullMarked
package io.penstock;

import org.jspecify.annotations.NullMarked;
