// SPDX-License-Identifier: Apache-2.0
/**
 * GPU memory for drivers of other devices: dma-bufs. Depends on contexts, not on allocations.
 */
@NullMarked
package io.penstock.backend.cufile.peer;

import org.jspecify.annotations.NullMarked;
