// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.options;

/** The paths between files and GL buffers that {@link GlOptions#PATH} names. */
public enum GlPath {
    /**
     * AMD's extension if available; otherwise directly into mapped buffers if the device is the processor itself;
     * otherwise through staging buffers.
     */
    AUTO,
    /** From the disk to the device by AMD's SSG extension; opening fails without it. */
    SSG,
    /** Buffers are persistently mapped, and file I/O accesses them directly. */
    HOST,
    /** Buffers are in device memory, reached through a ring of mapped staging buffers. */
    STAGED
}
