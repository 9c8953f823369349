// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/** Whose memory slots are, which {@link OpenClOptions#SLOT_MEMORY} names. */
public enum SlotMemory {
    /** The driver's for a device with memory of its own, else ours. */
    AUTO,
    /** Ours, which the driver is told of (CL_MEM_USE_HOST_PTR). */
    OWN,
    /** The driver's, which it has pinned (CL_MEM_ALLOC_HOST_PTR). */
    DRIVER
}
