// SPDX-License-Identifier: Apache-2.0
/** How the host hears of a device's events where no vendor's call tells it well. */
@NullMarked
package io.penstock.engine.fence;

import org.jspecify.annotations.NullMarked;
