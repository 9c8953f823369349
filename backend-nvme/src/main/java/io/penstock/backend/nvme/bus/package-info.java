// SPDX-License-Identifier: Apache-2.0
/** The seam between the driver and a controller: registers, and memory that the controller reads and writes by DMA. */
@NullMarked
package io.penstock.backend.nvme.bus;

import org.jspecify.annotations.NullMarked;
