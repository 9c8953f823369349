// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty.http;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The body of a response: parts of a file, each with a head before it, and an end after the last. Several parts are
 * {@code multipart/byteranges} (RFC 9110, 14.6).
 *
 * @param boundary between the parts; empty except for multipart
 * @param end text after the last part; empty except for multipart
 */
public record FileParts(List<Part> parts, String boundary, String end) {

    /** A body without bytes. */
    public static final FileParts NONE = new FileParts(List.of(), "", "");

    /**
     * Bytes of a file.
     *
     * @param head text before them, in ASCII; empty except for multipart
     */
    public record Part(String head, long offset, long length) {}

    /** Copies the list. */
    public FileParts {
        parts = List.copyOf(parts);
    }

    /** Returns a body of one part. */
    public static FileParts of(long offset, long length) {
        return length == 0 ? NONE : new FileParts(List.of(new Part("", offset, length)), "", "");
    }

    /**
     * Returns a body of spans.
     *
     * @param spans at least one
     * @param size of the whole file
     * @param type the media type of the file
     */
    public static FileParts of(List<ByteRanges.Span> spans, long size, String type) {
        if (spans.size() == 1) {
            return of(spans.get(0).first(), spans.get(0).length());
        }
        // Not of SecureRandom, which reads a file: the thread of a request may not block.
        String boundary =
                "penstock-" + Long.toHexString(ThreadLocalRandom.current().nextLong());
        List<Part> parts = spans.stream()
                .map(span -> new Part(
                        "\r\n--" + boundary + "\r\nContent-Type: " + type + "\r\nContent-Range: "
                                + span.contentRange(size) + "\r\n\r\n",
                        span.first(),
                        span.length()))
                .toList();
        return new FileParts(parts, boundary, "\r\n--" + boundary + "--\r\n");
    }

    /** Returns the {@code Content-Type} of a response with this body, of a file of a media type. */
    public String contentType(String type) {
        return boundary.isEmpty() ? type : "multipart/byteranges; boundary=" + boundary;
    }

    /** Returns the total number of bytes. */
    public long length() {
        return end.length()
                + parts.stream()
                        .mapToLong(part -> part.head().length() + part.length())
                        .sum();
    }
}
