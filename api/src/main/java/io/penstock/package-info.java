// SPDX-License-Identifier: Apache-2.0
/**
 * What users call: transfers between regions of files and regions of device memory, as Reactor publishers.
 *
 * <p>Start at {@link io.penstock.Backends}. Every publisher of this package is lazy: nothing happens before
 * {@code subscribe}, and {@code subscribe} never blocks. Values that are emitted own no native memory, except
 * {@link io.penstock.HostLease}, which says so.
 */
@NullMarked
package io.penstock;

import org.jspecify.annotations.NullMarked;
