// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

/** The path that transfers take. */
public enum Dx11Path {
    /** AMD's interface if it is available and accepts the transfer, otherwise staging buffers. */
    AUTO,
    /**
     * AMD's interface; transfers that it does not accept go through staging buffers. Opening fails on a device without
     * it.
     */
    SSG,
    /** Through staging buffers. */
    STAGED
}
