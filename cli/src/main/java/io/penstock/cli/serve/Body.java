// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.util.List;

/**
 * A response body: parts of a file, each with a head before it, and an end after the last.
 *
 * @param end text after the last part; empty except for multipart
 */
public record Body(List<Part> parts, String end) {

    static final Body NONE = new Body(List.of(), "");

    /**
     * Bytes of a file.
     *
     * @param head text before them, in ASCII; empty except for multipart
     */
    public record Part(String head, long offset, long length) {}

    public Body {
        parts = List.copyOf(parts);
    }

    static Body of(long offset, long length) {
        return length == 0 ? NONE : new Body(List.of(new Part("", offset, length)), "");
    }

    /** Returns the total number of bytes. */
    public long length() {
        return end.length()
                + parts.stream()
                        .mapToLong(part -> part.head().length() + part.length())
                        .sum();
    }
}
