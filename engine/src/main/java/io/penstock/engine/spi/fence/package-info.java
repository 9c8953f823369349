// SPDX-License-Identifier: Apache-2.0
/** Vendors' events as fences, and how the host polls those that no call of the vendor reports well. */
@NullMarked
package io.penstock.engine.spi.fence;

import org.jspecify.annotations.NullMarked;
