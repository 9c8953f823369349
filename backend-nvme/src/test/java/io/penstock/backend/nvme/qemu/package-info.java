// SPDX-License-Identifier: Apache-2.0
/**
 * QEMU's NVMe controller without a guest: registers by the qtest protocol, memory shared as a file, disks served by
 * NBD.
 */
@NullMarked
package io.penstock.backend.nvme.qemu;

import org.jspecify.annotations.NullMarked;
