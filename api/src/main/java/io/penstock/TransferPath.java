// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** The way that the bytes of a transfer take between file and device. */
public enum TransferPath {
    /** From the storage device to the accelerator, without touching host memory. */
    DIRECT,
    /** The accelerator reads the page cache through a registered mapping. */
    MAPPED,
    /** The vendor's own bounce through host memory. */
    COMPAT,
    /** Through pinned staging buffers of the library. */
    STAGED,
    /** The target is memory that the processor and its storage stack address. */
    HOST
}
