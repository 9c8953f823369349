// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

/** Which way transfers take. */
public enum Dx11Path {
    /** By AMD's interface where it is and takes the transfer, else through staging buffers. */
    AUTO,
    /** By AMD's interface; what it does not take goes through staging buffers. A device without it is refused. */
    SSG,
    /** Through staging buffers. */
    STAGED
}
