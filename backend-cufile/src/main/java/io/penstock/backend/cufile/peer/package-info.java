// SPDX-License-Identifier: Apache-2.0
/**
 * GPU memory for peers: dma-bufs for drivers of other devices, and exports to other processes. Depends on contexts, not
 * on allocations.
 */
@NullMarked
package io.penstock.backend.cufile.peer;

import org.jspecify.annotations.NullMarked;
