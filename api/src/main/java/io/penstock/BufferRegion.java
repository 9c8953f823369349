// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Objects;

/**
 * The bytes of a buffer from {@code offset} to {@code offset + length}.
 *
 * @param offset in bytes from the start of the buffer
 * @param length in bytes
 */
public record BufferRegion(DeviceBuffer buffer, long offset, long length) implements Target {

    public BufferRegion {
        Objects.requireNonNull(buffer, "buffer");
        Objects.checkFromIndexSize(offset, length, buffer.length());
    }

    /**
     * Returns a part of this region.
     *
     * @param offset from the start of this region
     * @throws IndexOutOfBoundsException if the part does not lie inside this region
     */
    public BufferRegion slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, this.length);
        return new BufferRegion(buffer, this.offset + offset, length);
    }
}
