// SPDX-License-Identifier: Apache-2.0
/** Vendors' events as fences, and polling by the host where the vendor has no suitable notification. */
@NullMarked
package io.penstock.engine.kit.fence;

import org.jspecify.annotations.NullMarked;
