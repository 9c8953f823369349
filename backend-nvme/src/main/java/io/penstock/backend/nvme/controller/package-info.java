// SPDX-License-Identifier: Apache-2.0
/**
 * A driver for NVMe controllers, after the NVM Express base specification 1.4: the {@linkplain Controller controller}
 * is enabled, identified and reset by registers and admin commands; {@linkplain QueuePair queue pairs} carry the
 * commands that move data. Registers, fields and commands are named as in the specification, status
 * codes as in Linux ({@code NVME_SC_LBA_RANGE}).
 */
@NullMarked
package io.penstock.backend.nvme.controller;

import org.jspecify.annotations.NullMarked;
