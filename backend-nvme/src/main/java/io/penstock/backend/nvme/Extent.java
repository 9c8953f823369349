// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

/**
 * A part of a file that is contiguous on a namespace.
 *
 * @param offset in bytes from the start of the file
 * @param place in bytes from the start of the namespace
 * @param bytes how many
 */
public record Extent(long offset, long place, long bytes) {

    /** Checks the arguments. */
    public Extent {
        if (offset < 0 || place < 0 || bytes <= 0 || place + bytes < 0 || offset + bytes < 0) {
            throw new IllegalArgumentException("an extent must have at least 1 byte, at 0 or behind, was " + bytes
                    + " bytes of the file at " + offset + ", of the namespace at " + place);
        }
    }

    /** Returns the offset in the file behind the last byte. */
    public long end() {
        return offset + bytes;
    }
}
