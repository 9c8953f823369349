// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/** The paths between files and the device that {@link OpenClOptions#PATH} selects. */
public enum OpenClPath {
    /** The best available path for each transfer. */
    AUTO,
    /** By AMD's SSG extension; through Penstock's staging buffers where that refuses. */
    SSG,
    /** Through Penstock's staging buffers. */
    STAGED,
    /**
     * Directly into the buffer, which is mapped for the duration of each command, on devices that share the host's
     * memory; staging buffers for the rest. OpenCL forbids kernels to use any part of the buffer meanwhile.
     */
    MAP
}
