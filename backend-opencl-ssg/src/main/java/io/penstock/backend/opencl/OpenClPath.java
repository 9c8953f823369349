// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/** The ways between files and the device that {@link OpenClOptions#PATH} names. */
public enum OpenClPath {
    /** The best that there is for each transfer. */
    AUTO,
    /** Through slots of ours. */
    STAGED
}
