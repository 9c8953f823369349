// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.bus;

import io.penstock.engine.kit.memory.HostMemory;

/** Memory that both the processor and the controller address, contiguous for both. */
public interface DmaMemory extends HostMemory, DmaMapping {}
