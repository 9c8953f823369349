// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** The device side of a transfer: its destination or its source. */
public sealed interface Target permits BufferRegion, ImageRegion {

    /** Returns the number of bytes of a file that fill it. */
    long length();
}
