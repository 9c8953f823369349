// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

/** The ways between files and GL's buffers that {@link GlOptions#PATH} names. */
public enum GlPath {
    /** By AMD's extension where it is; else straight into mapped buffers where the device is the processor itself; else through slots. */
    AUTO,
    /** From the disk to the device by AMD's SSG extension; nothing is opened without it. */
    SSG,
    /** Buffers are allocated mapped, for good, and file I/O goes straight to them. */
    HOST,
    /** Buffers are the device's own, and reached through a ring of mapped slots. */
    STAGED
}
