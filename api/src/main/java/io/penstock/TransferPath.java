// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** How the bytes of a transfer move between file and device, or from buffer to buffer. */
public enum TransferPath {
    /** From the storage device, or other device memory, to the accelerator, without touching host memory. */
    DIRECT,
    /** The accelerator reads the page cache through a registered mapping. */
    MAPPED,
    /** Through bounce buffers of the vendor's library in host memory. */
    COMPAT,
    /** Through pinned staging buffers of the library; a copy: through host memory. */
    STAGED,
    /** The target is memory that the processor and the kernel's storage stack can address. */
    HOST,
    /** The file is on another host: over the network into host memory, and from there to the accelerator if need be. */
    REMOTE
}
