// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/** The ways between files and the device that {@link OpenClOptions#PATH} names. */
public enum OpenClPath {
    /** The best that there is for each transfer. */
    AUTO,
    /** By AMD's SSG extension, and through slots of ours what that refuses. */
    SSG,
    /** Through slots of ours. */
    STAGED,
    /**
     * Straight into the buffer, which is mapped for the length of each command, on devices that share the host's memory;
     * slots for what cannot go that way. OpenCL wants that no kernel uses the buffer meanwhile, not even another part of it.
     */
    MAP
}
