// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.video;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The size of a frame in pixels. */
public record FrameSize(int width, int height) {

    private static final Pattern TEXT = Pattern.compile("([1-9]\\d{0,4})[xX]([1-9]\\d{0,4})");

    /**
     * Parses {@code 640x360}.
     *
     * @throws IllegalArgumentException if it is invalid
     */
    public static FrameSize of(String text) {
        Matcher size = TEXT.matcher(text.strip());
        if (!size.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a frame size, such as 640x360");
        }
        return new FrameSize(Integer.parseInt(size.group(1)), Integer.parseInt(size.group(2)));
    }

    @Override
    public String toString() {
        return width + "x" + height;
    }
}
