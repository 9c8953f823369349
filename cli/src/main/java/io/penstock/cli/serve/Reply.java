// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The response to a request, determined before a byte is read.
 *
 * @param body empty for HEAD, whose headers still contain its length
 */
record Reply(HttpResponseStatus status, HttpHeaders headers, Body body) {

    /** Returns a response without a body. */
    static Reply of(HttpResponseStatus status) {
        HttpHeaders headers = headers(Instant.now());
        headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
        if (status == HttpResponseStatus.METHOD_NOT_ALLOWED) {
            headers.set(HttpHeaderNames.ALLOW, "GET, HEAD");
        }
        return new Reply(status, headers, Body.NONE);
    }

    /** Returns this response, marked as the last of its connection. */
    Reply last() {
        headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        return this;
    }

    /** Returns the response to a GET or HEAD of {@code file}. */
    static Reply of(HttpMethod method, HttpHeaders request, FoundFile file, Instant now) {
        HttpHeaders headers = headers(now);
        headers.set(HttpHeaderNames.ETAG, file.entityTag());
        Instant modified = file.lastModified();
        // Never later than the response (8.8.2.1), even if the clock of the file is ahead.
        headers.set(HttpHeaderNames.LAST_MODIFIED, date(modified.isAfter(now) ? now : modified));
        headers.set(HttpHeaderNames.ACCEPT_RANGES, "bytes");
        Conditions conditions = new Conditions(request, file);
        if (conditions.failed()) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
            return new Reply(HttpResponseStatus.PRECONDITION_FAILED, headers, Body.NONE);
        }
        if (conditions.notModified()) {
            return new Reply(HttpResponseStatus.NOT_MODIFIED, headers, Body.NONE);
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
        return new Reply(HttpResponseStatus.OK, headers, bytes ? Body.of(0, file.size()) : Body.NONE);
    }

    private static Reply ranges(HttpHeaders headers, FoundFile file, List<ByteRanges.Span> spans) {
        if (spans.isEmpty()) {
            headers.set(HttpHeaderNames.CONTENT_RANGE, "bytes */" + file.size());
            headers.remove(HttpHeaderNames.CONTENT_TYPE);
            headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
            return new Reply(HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers, Body.NONE);
        }
        Body body;
        if (spans.size() == 1) {
            headers.set(HttpHeaderNames.CONTENT_RANGE, contentRange(spans.get(0), file));
            body = Body.of(spans.get(0).first(), spans.get(0).length());
        } else {
            String boundary =
                    "penstock-" + Long.toHexString(ThreadLocalRandom.current().nextLong());
            headers.set(HttpHeaderNames.CONTENT_TYPE, "multipart/byteranges; boundary=" + boundary);
            body = multipart(boundary, file, spans);
        }
        headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length());
        return new Reply(HttpResponseStatus.PARTIAL_CONTENT, headers, body);
    }

    private static Body multipart(String boundary, FoundFile file, List<ByteRanges.Span> spans) {
        List<Body.Part> parts = new ArrayList<>();
        for (ByteRanges.Span span : spans) {
            String head = "\r\n--" + boundary + "\r\nContent-Type: " + ContentTypes.of(file.path())
                    + "\r\nContent-Range: " + contentRange(span, file) + "\r\n\r\n";
            parts.add(new Body.Part(head, span.first(), span.length()));
        }
        return new Body(parts, "\r\n--" + boundary + "--\r\n");
    }

    private static String contentRange(ByteRanges.Span span, FoundFile file) {
        return "bytes " + span.first() + '-' + span.last() + '/' + file.size();
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
}
