// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRange;

/** The headers {@code Range} and {@code If-Range} (RFC 9110, 14.2 and 13.1.5), evaluated on top of {@link HttpRange}. */
final class ByteRanges {

    private static final String UNIT = "bytes=";

    private ByteRanges() {}

    /** Bytes {@code first} to {@code last}, both included. */
    record Span(long first, long last) {
        long length() {
            return last - first + 1;
        }
    }

    /**
     * Returns the spans that the file has, in the requested order; an empty list if it has none of them (416); empty if
     * the headers must be ignored: there are none, they are malformed, of another unit, about another version of the
     * file, or request more bytes than it has.
     */
    static Optional<List<Span>> of(HttpHeaders headers, ServedFile file) {
        String range = headers.getFirst(HttpHeaders.RANGE);
        if (range == null || !range.toLowerCase(Locale.ROOT).startsWith(UNIT) || !isOf(file, headers)) {
            return Optional.empty();
        }
        try {
            List<HttpRange> asked =
                    HttpRange.parseRanges(UNIT + range.substring(UNIT.length())); // which takes lower case only
            if (asked.isEmpty()) { // "bytes=" alone
                return Optional.empty();
            }
            List<Span> spans = spans(asked, file.size());
            boolean greedy =
                    spans.size() > 1 && spans.stream().mapToLong(Span::length).sum() > file.size();
            return greedy ? Optional.empty() : Optional.of(spans);
        } catch (IllegalArgumentException malformed) {
            return Optional.empty();
        }
    }

    private static List<Span> spans(List<HttpRange> ranges, long size) {
        List<Span> spans = new ArrayList<>();
        for (HttpRange range : ranges) {
            Span span = new Span(range.getRangeStart(size), range.getRangeEnd(size));
            if (span.first() < size && span.length() > 0) {
                spans.add(span);
            }
        }
        return spans;
    }

    private static boolean isOf(ServedFile file, HttpHeaders headers) {
        String version = headers.getFirst(HttpHeaders.IF_RANGE);
        if (version == null || version.equals(file.entityTag())) {
            return true;
        }
        if (version.contains("\"")) {
            return false;
        }
        try {
            return headers.getFirstDate(HttpHeaders.IF_RANGE)
                    == file.lastModified().toEpochMilli();
        } catch (IllegalArgumentException noDate) {
            return false;
        }
    }
}
