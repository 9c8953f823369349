// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import java.util.List;

/** The layout of the pixels of a frame in a file; the constants are what the user types. */
public enum FrameFormat {

    /** A plane of brightness, then two of colour with a quarter of the samples each (I420). */
    YUV420,
    /** Three bytes a pixel. */
    RGB;

    /**
     * A part of a frame that is a separate picture.
     *
     * @param texelBytes 1 or 3
     * @param offset of its first byte in the frame
     */
    public record Plane(int width, int height, int texelBytes, long offset) {

        /** Returns its length. */
        public long bytes() {
            return (long) width * height * texelBytes;
        }
    }

    /** Returns the parts of a frame, in the order of the file. */
    public List<Plane> planes(FrameSize size) {
        Plane first = new Plane(size.width(), size.height(), this == RGB ? 3 : 1, 0);
        if (this == RGB) {
            return List.of(first);
        }
        int width = (size.width() + 1) / 2;
        int height = (size.height() + 1) / 2;
        Plane blue = new Plane(width, height, 1, first.bytes());
        return List.of(first, blue, new Plane(width, height, 1, blue.offset() + blue.bytes()));
    }

    public long bytes(FrameSize size) {
        return planes(size).stream().mapToLong(Plane::bytes).sum();
    }
}
