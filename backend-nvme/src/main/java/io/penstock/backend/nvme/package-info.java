// SPDX-License-Identifier: Apache-2.0
/**
 * NVMe controllers driven from user space: a namespace, or a range of its blocks, is a file, and its bytes go by DMA
 * between the disk and buffers in host memory, without the kernel's block layer. A file of ext4 is one too, by its
 * {@link io.penstock.backend.nvme.ExtentMap}. {@code docs/nvme.md} has the details.
 */
@NullMarked
package io.penstock.backend.nvme;

import org.jspecify.annotations.NullMarked;
