// SPDX-License-Identifier: Apache-2.0
/**
 * Memory of a GPU for drivers of other devices: dma-bufs. Knows contexts, no allocations.
 */
@NullMarked
package io.penstock.backend.cufile.peer;

import org.jspecify.annotations.NullMarked;
