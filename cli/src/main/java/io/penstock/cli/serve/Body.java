// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.util.List;

/**
 * What follows the headers: parts of a file, each with a few words before it, and a few after the last.
 *
 * @param end what follows the last part; empty but for multipart
 */
public record Body(List<Part> parts, String end) {

    static final Body NONE = new Body(List.of(), "");

    /**
     * Bytes of a file.
     *
     * @param head what comes before them; empty but for multipart, ASCII
     */
    public record Part(String head, long offset, long length) {}

    public Body {
        parts = List.copyOf(parts);
    }

    static Body of(long offset, long length) {
        return length == 0 ? NONE : new Body(List.of(new Part("", offset, length)), "");
    }

    /** Returns the bytes of all of it. */
    public long length() {
        return end.length()
                + parts.stream()
                        .mapToLong(part -> part.head().length() + part.length())
                        .sum();
    }
}
