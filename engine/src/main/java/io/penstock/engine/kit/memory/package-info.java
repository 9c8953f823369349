// SPDX-License-Identifier: Apache-2.0
/**
 * Host memory for backends: page-aligned memory from {@link io.penstock.engine.kit.memory.Slabs}, the application's
 * memory as {@link io.penstock.engine.kit.memory.HostMemory}, and for memory mapped by a driver a
 * {@link io.penstock.engine.kit.memory.MemoryMapping}, which host I/O may register with io_uring.
 */
@NullMarked
package io.penstock.engine.kit.memory;

import org.jspecify.annotations.NullMarked;
