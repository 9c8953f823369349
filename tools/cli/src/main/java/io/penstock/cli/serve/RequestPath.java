// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The path of a request: its segments, decoded once.
 *
 * <p>Decoding comes after splitting, so an encoded slash can only be part of a name, and no name contains one.
 */
record RequestPath(List<String> segments) {

    private static final char REPLACEMENT = '\uFFFD';

    RequestPath {
        segments = List.copyOf(segments);
    }

    /** Parses a request target; empty if it can never name a file: dot segments, NUL, bad encoding. */
    static Optional<RequestPath> parse(String target) {
        String path = path(target);
        if (!path.startsWith("/")) {
            return Optional.empty();
        }
        List<String> segments = new ArrayList<>();
        for (String raw : path.substring(1).split("/", -1)) {
            Optional<String> segment = decode(raw).filter(RequestPath::isName);
            if (segment.isEmpty()) {
                return Optional.empty();
            }
            segments.add(segment.get());
        }
        return Optional.of(new RequestPath(segments));
    }

    /** Strips the query, and the part of an absolute-form target (RFC 9112, 3.2.2) before its path. */
    private static String path(String target) {
        int end = target.length();
        for (int i = 0; i < end; i++) {
            char c = target.charAt(i);
            if (c == '?' || c == '#') {
                end = i;
            }
        }
        String path = target.substring(0, end);
        int authority = path.indexOf("://");
        if (authority <= 0 || path.startsWith("/")) {
            return path;
        }
        int start = path.indexOf('/', authority + "://".length()); // a slash of the query is none of the path
        return start < 0 ? "/" : path.substring(start);
    }

    /** An empty segment denotes a directory or a doubled slash: no file has it, but it is harmless. */
    private static boolean isName(String segment) {
        return !segment.equals(".")
                && !segment.equals("..")
                && segment.indexOf('\0') < 0
                && segment.indexOf('/') < 0
                && segment.indexOf('\\') < 0;
    }

    private static Optional<String> decode(String raw) {
        try {
            String name = URLDecoder.decode(raw.replace("+", "%2B"), StandardCharsets.UTF_8);
            // What is not UTF-8, overlong forms of '/' and '.' among it.
            return Optional.of(name).filter(decoded -> decoded.indexOf(REPLACEMENT) < 0);
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
