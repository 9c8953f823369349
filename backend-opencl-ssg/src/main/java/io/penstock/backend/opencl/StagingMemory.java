// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/** The memory that staging buffers use, selected by {@link OpenClOptions#STAGING_MEMORY}. */
public enum StagingMemory {
    /** Allocated by the driver for a device with its own memory, otherwise by Penstock. */
    AUTO,
    /** Allocated by Penstock and passed to the driver (CL_MEM_USE_HOST_PTR). */
    OWN,
    /** Allocated and pinned by the driver (CL_MEM_ALLOC_HOST_PTR). */
    DRIVER
}
