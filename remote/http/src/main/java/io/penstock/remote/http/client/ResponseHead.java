// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The status line and the headers of a response (RFC 9112).
 *
 * @param status the code
 * @param reason the phrase after it; may be empty
 * @param headers by name in lower case; of several of one name, the first, unless they are a list
 */
public record ResponseHead(int status, String reason, Map<String, String> headers) {

    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.([01]) (\\d{3})(?: (.*))?", Pattern.DOTALL);
    private static final Pattern PRINTABLE = Pattern.compile("[\\t -~\\x80-\\xff]*");
    private static final List<DateTimeFormatter> DATES = List.of( // RFC 9110, 5.6.7
            DateTimeFormatter.RFC_1123_DATE_TIME,
            DateTimeFormatter.ofPattern("EEEE, dd-MMM-uu HH:mm:ss 'GMT'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC),
            DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC));
    private static final Set<String> LISTS = Set.of("connection", "content-encoding", "transfer-encoding");
    private static final Set<String> SINGLE = Set.of("content-length", "content-range", "location");
    private static final Pattern FOLD = Pattern.compile("\r?\n[ \t]+"); // continues a header (RFC 9112, 5.2)
    private static final Pattern IDENTITY = Pattern.compile("(?i)identity(, identity)*");
    private static final Pattern RANGE = Pattern.compile("(?i)bytes (\\d{1,18})-(\\d{1,18})/(\\d{1,18}|\\*)");
    private static final Pattern UNSATISFIED = Pattern.compile("(?i)bytes \\*/(\\d{1,18})");

    /**
     * Parses a head.
     *
     * @param text up to the empty line
     * @throws IOException if it is none of HTTP/1
     */
    static ResponseHead parse(String text) throws IOException {
        String[] lines = FOLD.matcher(text.stripTrailing()).replaceAll(" ").split("\r?\n");
        Matcher status = STATUS.matcher(lines[0]);
        if (!status.matches()) {
            throw new IOException("the answer is not HTTP/1: " + printable(lines[0]));
        }
        Map<String, String> headers = new TreeMap<>();
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon <= 0 || !PRINTABLE.matcher(lines[i]).matches()) {
                throw new IOException("header " + i + " of the answer is none"); // it may be a secret
            }
            add(
                    headers,
                    lines[i].substring(0, colon),
                    lines[i].substring(colon + 1).strip());
        }
        if (status.group(1).equals("0")) {
            headers.putIfAbsent("connection", "close"); // that version's default
        }
        String reason = status.group(3);
        return new ResponseHead(Integer.parseInt(status.group(2)), reason == null ? "" : reason, headers);
    }

    private static void add(Map<String, String> headers, String sent, String value) throws IOException {
        String name = sent.toLowerCase(Locale.ROOT);
        String first = headers.putIfAbsent(name, value);
        if (first != null && LISTS.contains(name)) {
            headers.put(name, first + ", " + value);
        } else if (first != null && SINGLE.contains(name) && !first.equals(value)) {
            throw new IOException("the answer has several " + printable(sent)
                    + (name.equals("location") ? "" : ": " + first + " and " + value)); // where signatures are
        }
    }

    private static String printable(String line) {
        return line.substring(0, Math.min(line.length(), 80)).replaceAll("[^ -~]", "?");
    }

    /** Returns a header; null if it has none of this name, in lower case. */
    public @Nullable String value(String name) {
        return headers.get(name);
    }

    /** Returns the length of the whole file; -1 if it does not state it. */
    long totalBytes() {
        if (status == 200) {
            return number(headers.get("content-length"));
        }
        String range = headers.getOrDefault("content-range", "");
        Matcher stated = (status == 416 ? UNSATISFIED : RANGE).matcher(range);
        return stated.matches() ? number(stated.group(stated.groupCount())) : -1;
    }

    private static long number(@Nullable String digits) {
        return digits != null && digits.matches("\\d{1,18}") ? Long.parseLong(digits) : -1;
    }

    /**
     * Returns how many bytes of a range its body has, from the first on: a server may send fewer than were requested
     * (RFC 9110, 15.3.7). -1 if it has others, more, or a length that is another one.
     */
    long bytesOf(long from, long bytes) {
        long stated = statedOf(from, bytes);
        String length = headers.get("content-length");
        return coding() == null && (length == null || length.equals(Long.toString(stated))) ? stated : -1;
    }

    /** Returns how many bytes of a range it states, which must lie within the stated length (RFC 9110, 14.4); or -1. */
    long statedOf(long from, long bytes) {
        Matcher part = RANGE.matcher(headers.getOrDefault("content-range", ""));
        if (!part.matches() || Long.parseLong(part.group(1)) != from) {
            return -1;
        }
        long end = Long.parseLong(part.group(2)) + 1;
        boolean within = part.group(3).equals("*") || end <= Long.parseLong(part.group(3));
        return end > from && end - from <= bytes && within ? end - from : -1;
    }

    boolean isChunked() {
        return "chunked".equalsIgnoreCase(headers.get("transfer-encoding"));
    }

    /** Returns how its body is coded; null if it is not, or in chunks, without another length (RFC 9112, 6.3). */
    @Nullable
    String coding() {
        for (String name : new String[] {"transfer-encoding", "content-encoding"}) {
            String coding = headers.get(name);
            boolean chunks = name.startsWith("transfer") && isChunked() && headers.get("content-length") == null;
            if (coding != null && !chunks && !IDENTITY.matcher(coding).matches()) {
                return coding;
            }
        }
        return null;
    }

    boolean keepsConnection() {
        return Arrays.stream(headers.getOrDefault("connection", "").split(","))
                .noneMatch(option -> option.strip().equalsIgnoreCase("close"));
    }

    /** Returns how long the server asks to wait before the next attempt, in seconds; -1 if it does not. */
    long retryAfterSeconds() {
        String after = headers.getOrDefault("retry-after", "");
        if (after.matches("\\d{1,15}")) {
            return Long.parseLong(after);
        }
        for (DateTimeFormatter form : DATES) {
            try {
                return Math.max(0, Instant.now().until(form.parse(after, Instant::from), ChronoUnit.SECONDS));
            } catch (DateTimeParseException e) {
                // it may have the next form
            }
        }
        return -1;
    }

    /** Returns whether another attempt may have another response. */
    NativeFailure.Kind kind() {
        return kind(status);
    }

    /** Returns whether another attempt may have another response than one of this status. */
    public static NativeFailure.Kind kind(int status) {
        return switch (status) {
            case 408, 425, 429, 500, 502, 503, 504 -> NativeFailure.Kind.TRANSIENT;
            default -> NativeFailure.Kind.PERMANENT;
        };
    }

    /** Returns the reason phrase in the spelling of constants. */
    String symbol() {
        return printable(reason).toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]+", "_");
    }
}
