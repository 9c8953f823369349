// SPDX-License-Identifier: Apache-2.0
/** Vendors' events as fences, and how the host hears of those where no vendor's call tells it well. */
@NullMarked
package io.penstock.engine.spi.fence;

import org.jspecify.annotations.NullMarked;
