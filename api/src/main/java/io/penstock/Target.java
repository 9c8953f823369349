// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** Where on a device the bytes of a transfer go, or come from. */
public sealed interface Target permits BufferRegion, ImageRegion {

    /** Returns how many bytes of a file it takes to fill it. */
    long length();
}
