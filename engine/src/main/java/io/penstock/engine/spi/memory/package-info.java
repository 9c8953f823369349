// SPDX-License-Identifier: Apache-2.0
/**
 * Host memory for backends: page-aligned memory from {@link io.penstock.engine.spi.memory.Slabs}, the application's
 * memory as {@link io.penstock.engine.spi.memory.HostMemory}, and for memory mapped by a driver a
 * {@link io.penstock.engine.spi.memory.MemoryMapping}, which host I/O may register with io_uring.
 */
@NullMarked
package io.penstock.engine.spi.memory;

import org.jspecify.annotations.NullMarked;
