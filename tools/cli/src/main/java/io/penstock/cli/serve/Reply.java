// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.penstock.netty.http.ByteRanges;
import io.penstock.netty.http.FileParts;
import io.penstock.netty.http.FileVersion;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * The response to a request, determined before a byte is read.
 *
 * @param body empty for HEAD, whose headers still contain its length
 */
record Reply(HttpResponseStatus status, HttpHeaders headers, FileParts body) {

    /** Returns a response without a body. */
    static Reply of(HttpResponseStatus status) {
        HttpHeaders headers = headers(Instant.now());
        headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
        if (status == HttpResponseStatus.METHOD_NOT_ALLOWED) {
            headers.set(HttpHeaderNames.ALLOW, "GET, HEAD");
        }
        return new Reply(status, headers, FileParts.NONE);
    }

    /** Returns this response, marked as the last of its connection. */
    Reply last() {
        headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        return this;
    }

    /** Returns the response to a GET or HEAD of {@code file}. */
    static Reply of(HttpMethod method, HttpHeaders request, FoundFile file, Instant now) {
        HttpHeaders headers = headers(now);
        headers.set(HttpHeaderNames.ETAG, file.version().entityTag());
        Instant modified = file.version().lastModified();
        // Never later than the response (8.8.2.1), even if the clock of the file is ahead.
        headers.set(HttpHeaderNames.LAST_MODIFIED, date(modified.isAfter(now) ? now : modified));
        headers.set(HttpHeaderNames.ACCEPT_RANGES, "bytes");
        Conditions conditions = new Conditions(request, file.version());
        if (conditions.failed()) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
            return new Reply(HttpResponseStatus.PRECONDITION_FAILED, headers, FileParts.NONE);
        }
        if (conditions.notModified()) {
            return new Reply(HttpResponseStatus.NOT_MODIFIED, headers, FileParts.NONE);
        }
        headers.set(HttpHeaderNames.CONTENT_TYPE, ContentTypes.of(file.path()));
        String range = request.get(HttpHeaderNames.RANGE);
        // Ranges are defined only for GET (14.2).
        if (range != null && method.equals(HttpMethod.GET) && conditions.rangeApplies(now)) {
            Optional<List<ByteRanges.Span>> spans = ByteRanges.parse(range, file.size());
            if (spans.isPresent()) {
                return ranges(headers, file, spans.get());
            }
        }
        headers.set(HttpHeaderNames.CONTENT_LENGTH, file.size());
        boolean bytes = method.equals(HttpMethod.GET);
        return new Reply(HttpResponseStatus.OK, headers, bytes ? FileParts.of(0, file.size()) : FileParts.NONE);
    }

    private static Reply ranges(HttpHeaders headers, FoundFile file, List<ByteRanges.Span> spans) {
        if (spans.isEmpty()) {
            headers.set(HttpHeaderNames.CONTENT_RANGE, "bytes */" + file.size());
            headers.remove(HttpHeaderNames.CONTENT_TYPE);
            headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
            return new Reply(HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers, FileParts.NONE);
        }
        String type = ContentTypes.of(file.path());
        FileParts body = FileParts.of(spans, file.size(), type);
        if (spans.size() == 1) {
            headers.set(HttpHeaderNames.CONTENT_RANGE, spans.get(0).contentRange(file.size()));
        }
        headers.set(HttpHeaderNames.CONTENT_TYPE, body.contentType(type));
        headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length());
        return new Reply(HttpResponseStatus.PARTIAL_CONTENT, headers, body);
    }

    private static HttpHeaders headers(Instant now) {
        HttpHeaders headers = DefaultHttpHeadersFactory.headersFactory().newHeaders();
        headers.set(HttpHeaderNames.DATE, date(now));
        headers.set("x-content-type-options", "nosniff"); // the name determines the type of a file, not the browser
        return headers;
    }

    private static String date(Instant instant) {
        return DateFormatter.format(Date.from(instant));
    }

    /** The conditions of a request (RFC 9110, 13), evaluated in the order of 13.2.2. */
    private static final class Conditions {

        private final HttpHeaders headers;
        private final FileVersion version;

        Conditions(HttpHeaders headers, FileVersion version) {
            this.headers = headers;
            this.version = version;
        }

        /** Returns true if the client requires a version and this is another one (412). */
        boolean failed() {
            if (headers.contains(HttpHeaderNames.IF_MATCH)) {
                return !version.isListed(headers.getAll(HttpHeaderNames.IF_MATCH), false);
            }
            Instant since = date(headers.get(HttpHeaderNames.IF_UNMODIFIED_SINCE));
            return since != null && version.lastModified().isAfter(since);
        }

        /** Returns true if the client already has this version (304). */
        boolean notModified() {
            if (headers.contains(HttpHeaderNames.IF_NONE_MATCH)) {
                return version.isListed(headers.getAll(HttpHeaderNames.IF_NONE_MATCH), true);
            }
            Instant since = date(headers.get(HttpHeaderNames.IF_MODIFIED_SINCE));
            return since != null && !version.lastModified().isAfter(since);
        }

        /** Returns true if ranges apply: the client names no other version as the version that it has in part. */
        boolean rangeApplies(Instant now) {
            String validator = headers.get(HttpHeaderNames.IF_RANGE);
            return version.rangeApplies(validator, date(validator), now);
        }

        /** An invalid date is ignored (13.1.3, 13.1.4). */
        private static @Nullable Instant date(@Nullable String value) {
            Date date = value == null ? null : DateFormatter.parseHttpDate(value);
            return date == null ? null : date.toInstant();
        }
    }

    /** Media types by file name. */
    private static final class ContentTypes {

        private static final String OTHER = "application/octet-stream";
        private static final ResourceBundle BY_EXTENSION =
                ResourceBundle.getBundle("io.penstock.cli.serve.ContentTypes");

        private ContentTypes() {}

        static String of(Path file) {
            String name = String.valueOf(file.getFileName());
            int dot = name.lastIndexOf('.');
            String extension = dot < 0 ? "" : name.substring(dot + 1).toLowerCase(Locale.ROOT);
            return BY_EXTENSION.containsKey(extension) ? BY_EXTENSION.getString(extension) : OTHER;
        }
    }
}
