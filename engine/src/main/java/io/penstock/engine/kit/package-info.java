// SPDX-License-Identifier: Apache-2.0
/**
 * The toolbox for backends: what our own share beside the contract, {@link io.penstock.engine.spi}. Threads and waiting
 * are here; {@code kit.host} is for memory that the processor reaches, {@code kit.memory} and {@code kit.file} for the
 * host's memory and files, {@code kit.fence} for vendors' events, {@code kit.staging} for devices that one thread calls,
 * {@code kit.ffi} for native calls, {@code kit.remote} for files on other hosts. No backend needs it, and it changes with them.
 */
@NullMarked
package io.penstock.engine.kit;

import org.jspecify.annotations.NullMarked;
