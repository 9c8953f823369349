// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The header {@code Range} (RFC 9110, 14.1 and 14.2). */
public final class ByteRanges {

    /** No legitimate client requests more ranges than this, or more bytes than the file has. */
    private static final int MOST = 64;

    private static final String UNIT = "bytes=";

    private ByteRanges() {}

    /** Bytes {@code first} to {@code last}, both included. */
    public record Span(long first, long last) {

        /** Returns the number of bytes. */
        public long length() {
            return last - first + 1;
        }

        /** Returns the header {@code Content-Range} of a response with these bytes of a file of {@code size} bytes. */
        public String contentRange(long size) {
            return "bytes " + first + '-' + last + '/' + size;
        }
    }

    /**
     * Reads a header.
     *
     * <p><b>Result:</b> the spans that a file of {@code size} bytes has, in the requested order; an empty list if it
     * has none of them (416); empty if the header must be ignored: it is malformed, of another unit, requests more than
     * the file has, or a suffix of an empty file, which is all of it (14.1.2).
     */
    public static Optional<List<Span>> parse(String header, long size) {
        if (!header.toLowerCase(Locale.ROOT).startsWith(UNIT)) {
            return Optional.empty();
        }
        List<Span> spans = new ArrayList<>();
        int asked = 0;
        for (String item : header.substring(UNIT.length()).split(",", -1)) {
            String range = item.strip();
            if (range.isEmpty()) {
                continue; // a recipient accepts empty elements of a list (5.6.1.2)
            }
            Optional<Span> span = span(range, size);
            if (span.isEmpty() || ++asked > MOST) {
                return Optional.empty();
            }
            span.filter(some -> some.first() < size && some.length() > 0).ifPresent(spans::add);
        }
        boolean greedy =
                spans.size() > 1 && spans.stream().mapToLong(Span::length).sum() > size;
        return asked == 0 || greedy ? Optional.empty() : Optional.of(spans);
    }

    /** Returns the span, clipped to the file; an empty span if the file has no such bytes; empty if malformed. */
    private static Optional<Span> span(String range, long size) {
        int dash = range.indexOf('-');
        if (dash < 0) {
            return Optional.empty();
        }
        String from = range.substring(0, dash);
        String to = range.substring(dash + 1);
        if (!isNumber(from) || !isNumber(to) || (from.isEmpty() && to.isEmpty())) {
            return Optional.empty();
        }
        if (from.isEmpty() && size == 0 && number(to) > 0) {
            return Optional.empty();
        }
        if (from.isEmpty()) {
            return Optional.of(new Span(Math.max(0, size - number(to)), size - 1));
        }
        long first = number(from);
        long last = to.isEmpty() ? Long.MAX_VALUE : number(to);
        return last < first ? Optional.empty() : Optional.of(new Span(first, Math.min(last, size - 1)));
    }

    private static boolean isNumber(String digits) {
        return digits.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** A number that a long cannot hold lies beyond the end of every file. */
    private static long number(String digits) {
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException tooLarge) {
            return Long.MAX_VALUE;
        }
    }
}
