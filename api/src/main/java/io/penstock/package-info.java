// SPDX-License-Identifier: Apache-2.0
/**
 * The public API: transfers between regions of files and regions of device memory, as Reactor publishers.
 *
 * <p>Start at {@link io.penstock.Backends}. Every publisher of this package is lazy: nothing happens before
 * {@code subscribe}, and {@code subscribe} never blocks. Emitted values own no native memory, except
 * {@link io.penstock.HostLease}.
 */
@NullMarked
package io.penstock;

import org.jspecify.annotations.NullMarked;
