// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

/**
 * Memory that this process and a controller address, contiguous for both.
 *
 * @param address of the first byte, in this process; of memory of a device, the native handle of its buffer
 * @param busAddress of the first byte, for the controller: what data pointers of commands hold. An IOVA where there is
 *     an IOMMU
 * @param bytes its length
 */
public record DmaRange(long address, long busAddress, long bytes) {}
